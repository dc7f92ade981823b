"""An OAuth server whose clients identify themselves in the ways that Authlib supports, and a page of rows."""

import os
import sys

from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector
from authlib.jose import JsonWebKey
from authlib.oauth2.rfc6749 import ClientMixin, TokenMixin, grants
from authlib.oauth2.rfc6750 import BearerTokenValidator
from authlib.oauth2.rfc7523 import JWTBearerClientAssertion, JWTBearerGrant
from flask import Flask, jsonify

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
port, secret, public_key = int(sys.argv[1]), sys.argv[2], sys.argv[3]
token_url = f"http://127.0.0.1:{port}/token"
key = JsonWebKey.import_key(public_key)
methods = ["client_secret_basic", "client_secret_post", JWTBearerClientAssertion.CLIENT_AUTH_METHOD]


class Client(ClientMixin):
    def __init__(self, client_id):
        self.client_id = client_id

    def get_client_id(self):
        return self.client_id

    def get_allowed_scope(self, scope):
        return scope or ""

    def check_client_secret(self, client_secret):
        return client_secret == secret

    def check_endpoint_auth_method(self, method, endpoint):
        return {"signer": method == methods[2], "basic": method == methods[0]}.get(self.client_id, True)

    def check_grant_type(self, grant_type):
        return True


class Token(TokenMixin):
    def is_expired(self):
        return False

    def is_revoked(self):
        return False

    def get_scope(self):
        return "read"


clients = {name: Client(name) for name in ["basic", "post", "signer"]}
tokens = {}


class ClientCredentials(grants.ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = methods


class Password(grants.ResourceOwnerPasswordCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = methods

    def authenticate_user(self, username, password):
        return username if (username, password) == ("ann", "pass of ann") else None


class Assertion(JWTBearerGrant):
    def resolve_issuer_client(self, issuer):
        return clients[issuer]

    def resolve_client_key(self, client, headers, payload):
        return key

    def authenticate_user(self, subject):
        return subject

    def has_granted_permission(self, client, user):
        return user == "ann"


class SignedClient(JWTBearerClientAssertion):
    def validate_jti(self, claims, jti):
        return True

    def resolve_client_public_key(self, client, headers):
        return key


app = Flask(__name__)
server = AuthorizationServer(
    app,
    query_client=clients.get,
    save_token=lambda token, request: tokens.update({token["access_token"]: Token()}),
)
for grant in [ClientCredentials, Password, Assertion]:
    server.register_grant(grant)
server.register_client_auth_method(SignedClient.CLIENT_AUTH_METHOD, SignedClient(token_url))


class Validator(BearerTokenValidator):
    def authenticate_token(self, token_string):
        return tokens.get(token_string)


protector = ResourceProtector()
protector.register_token_validator(Validator())


@app.post("/token")
def issue():
    return server.create_token_response()


@app.get("/rows")
@protector("read")
def rows():
    return jsonify([{"id": 1}, {"id": 2}])


app.run(host="127.0.0.1", port=port)
