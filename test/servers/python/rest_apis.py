"""Serves 47 rows with Django REST framework at /drf, with flask-smorest at /smorest, and with GraphQL at /graphql."""

import sys
from datetime import datetime, timedelta, timezone
from wsgiref.simple_server import WSGIRequestHandler, make_server

import django
import flask_smorest
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import Http404
from django.urls import path
from flask import Flask, request
from flask.views import MethodView
from graphql import build_schema, graphql_sync
from werkzeug.middleware.dispatcher import DispatcherMiddleware

START = datetime(2026, 3, 28, 23, 30, tzinfo=timezone(timedelta(hours=2)))
# Newest first; minutes apart, across midnight.
CHANGES = [{"id": n, "changed": (START + timedelta(minutes=n, microseconds=n)).isoformat()} for n in range(47, 0, -1)]
ROWS = [{"id": n, "big": 10**20 + n, "text": 'é "%d"' % n} for n in range(1, 48)]

settings.configure(
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    SECRET_KEY="only for tests",
    REST_FRAMEWORK={"UNAUTHENTICATED_USER": None, "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"]},
)
django.setup()

from rest_framework.fields import DateTimeField  # noqa: E402
from rest_framework.generics import ListAPIView  # noqa: E402
from rest_framework.pagination import PageNumberPagination  # noqa: E402
from rest_framework.serializers import BaseSerializer  # noqa: E402


class Pages(PageNumberPagination):
    page_size = 10


class Plain(BaseSerializer):
    def to_representation(self, instance):
        return instance


class Items(ListAPIView):
    authentication_classes = []
    pagination_class = Pages
    serializer_class = Plain

    def get_queryset(self):
        return ROWS


class Changes(Items):
    def get_queryset(self):
        given = self.request.query_params
        lower, upper = (DateTimeField().run_validation(given[name]) if name in given else None for name in ("since", "until"))
        return [
            row
            for row in CHANGES
            for at in [datetime.fromisoformat(row["changed"])]
            if (lower is None or at >= lower) and (upper is None or at < upper)
        ]


class Parts(Items):
    """0, 6 or 12 parts of an item. The last item has no such page."""

    def get_queryset(self):
        item = self.kwargs["item"]
        if item == 47:
            raise Http404
        return [{"item": item, "part": part} for part in range(item % 3 * 6)]


urlpatterns = [
    path("drf/items/", Items.as_view()),
    path("drf/items/<int:item>/parts/", Parts.as_view()),
    path("drf/changes/", Changes.as_view()),
]

smorest = Flask(__name__)
smorest.config.update(API_TITLE="rows", API_VERSION="1", OPENAPI_VERSION="3.0.2")
blueprint = flask_smorest.Blueprint("items", __name__)


@blueprint.route("/items/")
class SmorestItems(MethodView):
    @blueprint.response(200)
    @blueprint.paginate(flask_smorest.Page)
    def get(self):
        return ROWS


flask_smorest.Api(smorest).register_blueprint(blueprint)

schema = build_schema(
    """
    scalar BigInt
    type Order { id: Int! big: BigInt! text: String! }
    type PageInfo { endCursor: String hasNextPage: Boolean! }
    type Orders { nodes: [Order!]! pageInfo: PageInfo! }
    type Query { orders(first: Int!, after: String, breaks: Boolean): Orders }
    """
)


class Root:
    def orders(self, _info, first, after=None, breaks=False):
        if breaks and after is not None:
            raise ValueError("The database is gone")
        start = int(after or 0)
        end = start + min(first, 20)
        has_next = end < len(ROWS)
        return {"nodes": ROWS[start:end], "pageInfo": {"endCursor": str(end), "hasNextPage": has_next}}


graph = Flask("graph")
# GraphQL keeps the order of the query (GraphQL, 7.2.2).
graph.json.sort_keys = False


@graph.post("/")
def answer():
    given = request.get_json()
    return graphql_sync(schema, given["query"], Root(), variable_values=given.get("variables")).formatted


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


drf = get_wsgi_application()


def application(environ, start):
    if environ["PATH_INFO"].startswith("/drf/"):
        return drf(environ, start)
    return DispatcherMiddleware(Flask("none"), {"/smorest": smorest, "/graphql": graph})(environ, start)


make_server("127.0.0.1", int(sys.argv[1]), application, handler_class=Quiet).serve_forever()
