"""Which of several repairs that pass is taken: by what they do for other inputs."""
