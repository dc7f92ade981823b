"""
An SFTP server of asyncssh: PORT FOLDER USER PASSWORD, then what it leaves out: permissions, times, sizes; or `silent`, to
answer no question for a path. Its host key is new, and written to `host.pub` of the working folder.
"""
import asyncio
import os
import sys

import asyncssh

port, folder, user, password, *ways = sys.argv[1:]


class Login(asyncssh.SSHServer):
    def begin_auth(self, username):
        return True

    def password_auth_supported(self):
        return True

    def validate_password(self, username, given):
        return (username, given) == (user, password)


def told(attributes):
    if isinstance(attributes, os.stat_result):
        attributes = asyncssh.SFTPAttrs.from_local(attributes)
    if "permissions" in ways:
        attributes.permissions = None
    if "times" in ways:
        attributes.atime = attributes.mtime = None
    if "sizes" in ways:
        attributes.size = None
    return attributes


class Files(asyncssh.SFTPServer):
    def __init__(self, channel):
        super().__init__(channel, chroot=os.fsencode(folder))

    def stat(self, path):
        return told(super().stat(path))

    def lstat(self, path):
        return told(super().lstat(path))

    def format_longname(self, name):
        if ways:
            name.longname = name.filename
        else:
            super().format_longname(name)

    async def realpath(self, path):
        if "silent" in ways:
            await asyncio.sleep(10**6)
        return super().realpath(path)


async def main():
    key = asyncssh.generate_private_key("ssh-ed25519")
    key.write_public_key("host.pub")
    await asyncssh.listen("127.0.0.1", int(port), server_host_keys=[key], server_factory=Login, sftp_factory=Files)
    await asyncio.Event().wait()


asyncio.run(main())
