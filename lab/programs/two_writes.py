"""Python's own web server, which sends the head of an answer and its body by two writes, and so leaves
the second to Nagle's algorithm (RFC 896): it waits until the client has acknowledged the first, and
the client, with nothing to say, delays that (RFC 9293, 3.8.6.3)."""

import http.server
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = sys.argv[2] == "at-once"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"ok\n")

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        """Connections end when the load does, in whatever way."""


Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
