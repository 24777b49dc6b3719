"""What a batch keeps on disk, and reads again when it goes on."""
