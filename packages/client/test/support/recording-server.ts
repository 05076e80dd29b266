import type { ServerResponse } from 'node:http';
import { startServer, type Received, type TestServer } from './server.ts';

export interface RecordingBehaviour {
  /** The bytes that are served. */
  content: Buffer;
  etag?: string | undefined;
  lastModified?: string | undefined;
  /** Answer Range requests; default true. */
  ranges?: boolean;
  /** Cut the n-th answer (from 0) after so many bytes. */
  cuts?: readonly (number | undefined)[];
  /** Send no content-length. */
  chunked?: boolean;
  /** Answer Range requests whatever If-Range says. */
  ignoreIfRange?: boolean;
}

function rangeStart({ headers }: Received, behaviour: RecordingBehaviour): number {
  const match = /^bytes=(\d+)-$/.exec(headers.range ?? '');
  if (match === null || behaviour.ranges === false) return 0;
  const condition = headers['if-range'];
  const current = [behaviour.etag, behaviour.lastModified];
  if (condition !== undefined && !behaviour.ignoreIfRange && !current.includes(condition as string))
    return 0;
  return Number(match[1]);
}

function serve(
  request: Received,
  response: ServerResponse,
  behaviour: RecordingBehaviour,
  cut?: number,
): void {
  const { content, etag, lastModified, chunked } = behaviour;
  const start = rangeStart(request, behaviour);
  const headers: Record<string, string> = { 'content-type': 'audio/mpeg' };
  if (etag !== undefined) headers['etag'] = etag;
  if (lastModified !== undefined) headers['last-modified'] = lastModified;
  if (start > 0 && start >= content.length) {
    response.writeHead(416, { 'content-range': `bytes */${content.length}` }).end();
    return;
  }
  const bytes = content.subarray(start);
  if (!chunked) headers['content-length'] = String(bytes.length);
  if (start > 0)
    headers['content-range'] = `bytes ${start}-${content.length - 1}/${content.length}`;
  response.writeHead(start > 0 ? 206 : 200, headers);
  if (cut === undefined) response.end(bytes);
  else response.write(bytes.subarray(0, cut), () => response.destroy());
}

/** A service that serves one recording, with the faults that it is told to have. */
export async function startRecordingServer(behaviour: RecordingBehaviour): Promise<TestServer> {
  let answered = 0;
  return startServer((request, response) =>
    serve(request, response, behaviour, behaviour.cuts?.[answered++]),
  );
}
