"""The only package that starts programs: contained, bounded, and watched for what they change beyond."""
