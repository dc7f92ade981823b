"""Serves 47 rows with FastAPI and fastapi-pagination, in each of its ways to page, and as a stream of JSON lines."""

import json
import sys

import uvicorn
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from fastapi_pagination import LimitOffsetPage, Page, add_pagination, paginate
from fastapi_pagination.links import LimitOffsetPage as LinkedPage
from pydantic import BaseModel


class Row(BaseModel):
    id: int
    big: int
    text: str


ROWS = [Row(id=n, big=10**20 + n, text='é "%d"' % n) for n in range(1, 48)]
app = FastAPI()


@app.get("/pages")
def pages() -> Page[Row]:
    return paginate(ROWS)


@app.get("/offsets")
def offsets() -> LimitOffsetPage[Row]:
    return paginate(ROWS)


@app.get("/links")
def links() -> LinkedPage[Row]:
    return paginate(ROWS)


@app.get("/lines")
def lines() -> StreamingResponse:
    return StreamingResponse((json.dumps(row.model_dump()) + "\n" for row in ROWS), media_type="application/x-ndjson")


add_pagination(app)
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
