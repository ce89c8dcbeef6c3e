"""An MCP server over HTTP that asks for a sign-in, with its authorization server: `python oauth_server.py PORT FILE`.

Both are written with the `mcp` package. FILE gets a line for each thing that the authorization server does. The person at its page
allows everything, except where the file `FILE.refuse` is there."""

from __future__ import annotations

import secrets
import sys
import time
from pathlib import Path

from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl

SECONDS = 600


class Provider(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    def __init__(self, file: Path) -> None:
        self.file = file
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}

    def note(self, what: str) -> None:
        with self.file.open("a") as stream:
            stream.write(what + "\n")

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        assert client_info.client_id
        self.clients[client_info.client_id] = client_info
        self.note(f"registered {client_info.client_name}")

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        self.note("authorized")
        if self.file.with_suffix(".refuse").exists():
            return construct_redirect_uri(
                str(params.redirect_uri), error="access_denied", error_description="Not\x1b you", state=params.state
            )
        code = secrets.token_urlsafe(24)
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id or "",
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        self.note("exchanged")
        return self._tokens(authorization_code.client_id, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        del self.refresh[refresh_token.token]
        self.note("refreshed")
        return self._tokens(refresh_token.client_id, scopes, refresh_token.resource)

    def _tokens(self, client: str, scopes: list[str], resource: str | None) -> OAuthToken:
        access, refresh = "access-" + secrets.token_hex(8), "refresh-" + secrets.token_hex(8)
        self.access[access] = AccessToken(
            token=access, client_id=client, scopes=scopes, expires_at=int(time.time()) + SECONDS, resource=resource
        )
        self.refresh[refresh] = RefreshToken(token=refresh, client_id=client, scopes=scopes, resource=resource)
        return OAuthToken(
            access_token=access, expires_in=SECONDS, refresh_token=refresh, scope=" ".join(scopes) or None
        )

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.access.pop(token.token, None)


def main() -> None:
    port, file = int(sys.argv[1]), Path(sys.argv[2])
    url = f"http://127.0.0.1:{port}"
    server = MCPServer(
        "private",
        log_level="ERROR",
        auth_server_provider=Provider(file),
        auth=AuthSettings(
            issuer_url=AnyHttpUrl(url),
            resource_server_url=AnyHttpUrl(f"{url}/mcp"),
            client_registration_options=ClientRegistrationOptions(enabled=True),
            validate_token_resource=True,
        ),
    )

    @server.tool(structured_output=False)
    def secret() -> str:
        """Says what only those who are signed in know."""
        return "The heron is grey."

    server.run(transport="streamable-http", host="127.0.0.1", port=port)


if __name__ == "__main__":
    main()
