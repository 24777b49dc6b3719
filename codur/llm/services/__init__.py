"""The services' protocols: a question as a request, a response as an answer."""
