"""Uses the client that openapi-python-client generates."""

import json
import os
from io import BytesIO

from dashboard_service_client import AuthenticatedClient
from dashboard_service_client.api.datasource_instances import download_instance_data, upload_instance_data
from dashboard_service_client.api.datasources import create_data_source, get_data_source, list_data_sources
from dashboard_service_client.api.klip_schema import get_klip_schema
from dashboard_service_client.api.klips import create_klip
from dashboard_service_client.api.tab_klip_instances import place_klips
from dashboard_service_client.api.tabs import create_dashboard
from dashboard_service_client.models import (
    CreateDashboardRequest,
    CreateDataSourceEnvelope,
    CreateDataSourceRequest,
    CreatedEnvelope,
    CreateKlipRequest,
    ErrorCode,
    ErrorEnvelope,
    GetKlipSchemaEnvelope,
    KlipPlacement,
    ListDataSourcesEnvelope,
    PlaceKlipsEnvelope,
    PlaceKlipsRequest,
)
from dashboard_service_client.models import CreateDataSourceRequestFormat as Format
from dashboard_service_client.types import File

client = AuthenticatedClient(
    base_url=os.environ["BASE_URL"], token=os.environ["API_KEY"], prefix="", auth_header_name="kf-api-key"
)

documents = {
    Format.CSV: 'a,b\n1,"ä\n2"\n'.encode(),
    Format.JSON: b'[ {"a": 1.50} ]\n',
    Format.XML: b"<r>\r\n<a>1</a></r>",
}
for format, document in documents.items():
    wanted = CreateDataSourceRequest(name=f"Typed {format}", format_=format, no_refresh=True)
    created = create_data_source.sync(client=client, body=wanted)
    assert isinstance(created, CreateDataSourceEnvelope)
    id = created.meta.instance_location.split("/")[-1]
    stored = upload_instance_data.sync_detailed(id, client=client, body=File(payload=BytesIO(document)))
    assert stored.status_code == 200, stored
    assert download_instance_data.sync_detailed(id, client=client, raw=True).content == document
    if format == Format.JSON:
        read = download_instance_data.sync_detailed(id, client=client)
        assert json.loads(read.content)["data"] == json.loads(document)

names: list[str] = []
total = 1
while len(names) < total:
    page = list_data_sources.sync(client=client, limit=2, offset=len(names))
    assert isinstance(page, ListDataSourcesEnvelope)
    total = page.meta.total
    names += [source.name for source in page.data.datasources]
assert sorted(names) == ["Typed csv", "Typed json", "Typed xml"], names

klip_made = create_klip.sync(client=client, body=CreateKlipRequest(name="Sales"))
assert isinstance(klip_made, CreatedEnvelope)
klip = klip_made.meta.location.split("/")[-1]
schema = get_klip_schema.sync(klip, client=client)
assert isinstance(schema, GetKlipSchemaEnvelope)
assert schema.data.schema.components[0].display_name == "Simple Value"
tab_made = create_dashboard.sync(client=client, body=CreateDashboardRequest(name="Board"))
assert isinstance(tab_made, CreatedEnvelope)
placement = PlaceKlipsRequest(klips=[KlipPlacement(klip_id=klip, region=1, position=0)])
placed = place_klips.sync(tab_made.meta.location.split("/")[-1], client=client, body=placement)
assert isinstance(placed, PlaceKlipsEnvelope)
assert placed.data.klip_instances[0].name == "Sales"

error = get_data_source.sync("unknown", client=client)
assert isinstance(error, ErrorEnvelope)
assert error.meta.error_code == ErrorCode.NOT_FOUND
