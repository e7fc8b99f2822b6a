"""What the servers in Python share."""


def receive(connection):
    """Reads up to the end of a head; False when the other side has closed, in whatever way."""
    read = b""
    try:
        while not read.endswith(b"\r\n\r\n"):
            more = connection.recv(4096)
            if not more:
                return False
            read += more
    except ConnectionError:
        return False
    return True
