"""An FTP server of Twisted: PORT FOLDER USER PASSWORD."""
import sys

from twisted.cred.checkers import InMemoryUsernamePasswordDatabaseDontUse
from twisted.cred.portal import Portal
from twisted.internet import reactor
from twisted.protocols.ftp import FTPFactory, FTPRealm
from twisted.python.filepath import FilePath

port, folder, user, password = sys.argv[1:]


class Realm(FTPRealm):
    def getHomeDirectory(self, name):
        return FilePath(folder)


users = InMemoryUsernamePasswordDatabaseDontUse()
users.addUser(user, password)
reactor.listenTCP(int(port), FTPFactory(Portal(Realm(folder), [users])), interface="127.0.0.1")
reactor.run()
