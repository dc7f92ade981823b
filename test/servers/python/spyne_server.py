"""Serves 47 rows, ten per page, with Spyne and SOAP 1.1. Page 99 is a fault."""

import sys
from decimal import Decimal as Exact
from wsgiref.simple_server import make_server

from spyne import Application, Array, ComplexModel, Decimal, Fault, Integer, ServiceBase, Unicode, rpc
from spyne.protocol.soap import Soap11
from spyne.server.wsgi import WsgiApplication


class Row(ComplexModel):
    __namespace__ = "t.rows"
    id = Integer
    text = Unicode
    total = Decimal


class Rows(ServiceBase):
    @rpc(Integer, _returns=Array(Row))
    def get_rows(ctx, page):
        if page == 99:
            raise Fault("Client.NoPage", "There is no page 99")
        last = min(47, page * 10)
        return [Row(id=n, text='é "%d" <&>' % n, total=Exact("%d.50" % n)) for n in range(page * 10 - 9, last + 1)]


service = Application([Rows], "t.service", in_protocol=Soap11(), out_protocol=Soap11())
make_server("127.0.0.1", int(sys.argv[1]), WsgiApplication(service)).serve_forever()
