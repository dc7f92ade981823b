"""ClickHouse's engine (chdb) behind the part of its HTTP interface that a client reads from.

The engine is the real one. Logins, statuses and the two ways in which a server ends a response after an exception follow
https://clickhouse.com/docs/interfaces/http and the server's source.
Arguments: port, folder, user, password, and a certificate and its key for TLS.
"""

import re
import ssl
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from chdb import session

port, folder, user, password, *tls = sys.argv[1:]
engine = session.Session(folder)
lock = threading.Lock()
statuses = {516: 403, 60: 404, 81: 404, 62: 400, 164: 500, 241: 500}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer(200, b"Ok.\n")

    def do_POST(self):
        sql = self.rfile.read(int(self.headers["Content-Length"])).decode()
        asked = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        name, key = self.headers["X-ClickHouse-User"], self.headers["X-ClickHouse-Key"]
        if name not in (user, "locked") or key != password:
            return self.refuse(
                f"Code: 516. DB::Exception: {name}: Authentication failed: password is incorrect, "
                "or there is no user with such name. (AUTHENTICATION_FAILED) (version 26.9.2.1)"
            )
        if name == "locked":
            return self.refuse(
                "Code: 164. DB::Exception: Cannot modify 'readonly' setting in readonly mode. (READONLY) (version 26.9.2.1)"
            )
        with lock:
            self.run(sql, asked)

    def run(self, sql, asked):
        database = asked.pop("database", "default")
        default = asked.pop("default_format", "TabSeparated")
        parameters = {n[6:]: asked.pop(n) for n in list(asked) if n.startswith("param_")}
        asked.pop("query_id", None)
        settings = ", ".join(f"{n} = '{escaped(v)}'" for n, v in asked.items())
        trailer = asked.get("format_custom_result_after_delimiter", "").encode()
        chosen = re.search(r"\bformat\s+(\w+)\s*$", sql, re.I)
        began = False
        try:
            engine.query(f"use `{database}`")
            for part in results(with_settings(sql, settings), default, parameters or None):
                # The engine writes each part as a document of its own.
                data = part.removesuffix(trailer)
                if not began:
                    self.begin(chosen.group(1) if chosen else default)
                elif default.endswith("WithNamesAndTypes"):
                    data = data.split(b"\n", 2)[2]
                began = True
                self.write(data)
            if not began:
                self.begin(default)
            self.write(trailer)
            self.wfile.write(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        except Exception as error:
            text = str(error).replace("Streaming query failed: ", "") + " (version 26.9.2.1)"
            if not began:
                return self.refuse(text)
            if "/* old */" in sql:
                self.write(f"{text}\n".encode())
                self.wfile.write(b"0\r\n\r\n")
            else:
                self.write(f"\r\n__exception__\r\nabcdefghijklmnop\r\n{text}\n{len(text) + 1} abcdefghijklmnop\r\n__exception__\r\n".encode())
                self.wfile.flush()
                self.close_connection = True

    def begin(self, chosen):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("X-ClickHouse-Format", chosen)
        self.end_headers()

    def write(self, data):
        if data:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def refuse(self, text):
        code = int(re.search(r"Code: (\d+)", text).group(1))
        self.answer(statuses.get(code, 500), f"{text}\n".encode(), code)

    def answer(self, status, body, code=0):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if code:
            self.send_header("X-ClickHouse-Exception-Code", str(code))
        self.end_headers()
        self.wfile.write(body)


def results(sql, default, parameters):
    if re.match(r"\s*(select|with)\b", sql, re.I):
        parts = engine.send_query(sql, default, params=parameters)
        try:
            is_empty = True
            while (part := parts.fetch()) is not None:
                is_empty = False
                yield part.bytes()
        finally:
            parts.close()
        if not is_empty:
            return
    yield engine.query(sql, default, params=parameters).bytes()


def with_settings(sql, settings):
    if not settings:
        return sql
    if re.match(r"\s*insert\b", sql, re.I):
        return re.sub(r"\bvalues\b", lambda _: f"settings {settings} values", sql, count=1, flags=re.I)
    return f"{sql}\nsettings {settings}"


def escaped(value):
    return value.replace("\\", "\\\\").replace("'", "\\'").replace("\t", "\\t").replace("\n", "\\n")


server = ThreadingHTTPServer(("127.0.0.1", int(port)), Handler)
if tls:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*tls)
    server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
