"""An FTP server of pyftpdlib: PORT FOLDER USER PASSWORD, then the commands that it shall not know."""
import sys

from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler
from pyftpdlib.servers import FTPServer

port, folder, user, password, *unknown = sys.argv[1:]


class Handler(FTPHandler):
    authorizer = DummyAuthorizer()
    proto_cmds = {name: command for name, command in FTPHandler.proto_cmds.items() if name not in unknown}


Handler.authorizer.add_user(user, password, folder, perm="elr")
FTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
