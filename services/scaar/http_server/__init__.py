"""What the services of HTTP share: the server, the limits of requests, events, identities."""
