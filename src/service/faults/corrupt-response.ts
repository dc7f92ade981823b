import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isConnectedAfter } from './apply-fault.ts';
import type { FaultRule } from './fault-rule.ts';

/** A response body as the service would send it. */
type Payload = string | Buffer | AsyncIterable<Buffer | string> | null | undefined;

/**
 * Sends a response as the request's fault rule demands: late, truncated, slowly, or not at all. Returns false if no
 * fault applies; the caller must then send the response normally.
 */
export async function corruptResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: Payload,
): Promise<boolean> {
  const rule = request.fault;
  if (rule === null) return false;
  const { answer_delay_ms = 0, reset, truncate, drip } = rule;
  const isThere = await isConnectedAfter(answer_delay_ms, reply);
  if (isThere && reset === undefined && truncate === undefined && drip === undefined) return false;
  if (isThere && reset !== undefined) request.raw.socket.resetAndDestroy();
  if (isThere && reset === undefined) await sendCorrupted(request, reply, { payload, rule });
  if (payload instanceof Readable) payload.destroy();
  return true;
}

type Drops = NonNullable<FaultRule['drip']>;

interface CorruptedResponse {
  readonly payload: Payload;
  readonly rule: FaultRule;
}

async function sendCorrupted(
  request: FastifyRequest,
  reply: FastifyReply,
  { payload, rule }: CorruptedResponse,
): Promise<void> {
  const { raw } = reply;
  const length = lengthOf(payload, reply.getHeader('content-length'));
  const headers = { ...reply.getHeaders(), ...(length === undefined ? {} : { 'content-length': length }) };
  raw.writeHead(reply.statusCode, headers as OutgoingHttpHeaders);
  raw.flushHeaders();
  request.entry.status = reply.statusCode;
  const pieces = piecesOf(payload);
  if (rule.drip !== undefined) await drip(reply, pieces, rule.drip);
  else await cutOff(raw, pieces, rule.truncate?.after_bytes ?? Math.floor((length ?? 0) / 2));
}

function lengthOf(payload: Payload, announced: unknown): number | undefined {
  if (typeof payload === 'string') return Buffer.byteLength(payload);
  if (Buffer.isBuffer(payload)) return payload.length;
  return announced === undefined ? undefined : Number(announced);
}

async function* piecesOf(payload: Payload): AsyncGenerator<Buffer, void> {
  if (payload === null || payload === undefined) return;
  if (typeof payload === 'string' || Buffer.isBuffer(payload)) yield Buffer.from(payload);
  else for await (const piece of payload) yield Buffer.from(piece);
}

async function drip(reply: FastifyReply, pieces: AsyncIterable<Buffer>, drops: Drops): Promise<void> {
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; at += drops.bytes) {
      await written(reply.raw, piece.subarray(at, at + drops.bytes));
      if (!(await isConnectedAfter(drops.every_ms, reply))) return;
    }
  }
  reply.raw.end();
}

/** Sends the bytes, then closes the connection. */
async function cutOff(raw: ServerResponse, pieces: AsyncIterable<Buffer>, afterBytes: number): Promise<void> {
  let left = afterBytes;
  for await (const piece of pieces) {
    if (left > 0) await written(raw, piece.subarray(0, left));
    left -= piece.length;
    if (left <= 0) break;
  }
  await new Promise((resolve) => setImmediate(resolve));
  raw.socket?.destroySoon();
}

function written(raw: ServerResponse, piece: Buffer): Promise<unknown> {
  return new Promise((resolve) => raw.write(piece, resolve));
}
