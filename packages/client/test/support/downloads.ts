import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from '@jest/globals';
import type { SavedRecording, SaveOptions } from '../../src/save-recording.ts';
import { testClient } from './client.ts';
import { startRecordingServer, type RecordingBehaviour } from './recording-server.ts';
import type { TestServer } from './server.ts';

/** What is downloaded: larger than the buffers of a socket, and different everywhere. */
export const content = Buffer.from(
  Uint32Array.from({ length: 150_000 }, (_, index) => index * 2_654_435_761).buffer,
);

/** The ETag under which it is served. */
export const etag = '"v1"';

/** The folder of the running test, and the final name in it. */
export let folder: string;
export let path: string;

let servers: TestServer[] = [];

/** Gives every test of a file a folder of its own, and closes its servers afterwards. */
export function useDownloads(): void {
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'save-'));
    path = join(folder, 'call.mp3');
  });
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.close()));
    servers = [];
    await rm(folder, { recursive: true });
  });
}

export async function serve(behaviour: Partial<RecordingBehaviour> = {}): Promise<TestServer> {
  const server = await startRecordingServer({ content, etag, ...behaviour });
  servers.push(server);
  return server;
}

export async function save(
  server: TestServer,
  options?: SaveOptions,
  retries = 0,
): Promise<SavedRecording> {
  const recording = await testClient(server.origin, { retries }).calls.recording('c');
  return recording.saveTo(path, options);
}

/** Whether the final file holds exactly the recording. */
export async function isSaved(): Promise<boolean> {
  return (await readFile(path)).equals(content);
}
