import { existsSync } from 'node:fs';
import type { Recording } from '@call-webhooks/client';
import type { App } from '../app.ts';
import { badInput, environment } from '../cli-error.ts';
import { size } from '../terminal/bytes.ts';
import { progressBar } from '../terminal/progress.ts';
import { t } from '../terminal/text.ts';
import { serviceClient, type ServiceOptions } from './connect.ts';

/** The flags of `recording`. */
export interface DownloadOptions extends ServiceOptions {
  readonly output?: string;
  readonly resume?: boolean;
  readonly force?: boolean;
}

const ENDINGS: Readonly<Record<string, string>> = {
  'audio/wav': '.wav',
  'audio/x-wav': '.wav',
  'audio/wave': '.wav',
  'audio/mpeg': '.mp3',
  'audio/mp4': '.m4a',
  'audio/ogg': '.ogg',
  'audio/webm': '.webm',
};

/** Downloads a recording into a file, or to standard output. */
export async function download(
  app: App,
  callId: string,
  options: DownloadOptions,
): Promise<undefined> {
  const { io, output, signal } = app;
  if (options.output === '-') {
    if (io.stdout.isTTY)
      throw badInput('A recording is nothing to look at.', 'Pass -o FILE, or pipe it.');
    if (output.json) throw badInput('--json and -o - exclude each other.');
  } else if (options.output !== undefined) refuseToReplace(options.output, options);
  const client = await serviceClient(app, options);
  const recording = await client.calls.recording(callId, { signal });
  if (options.output === '-') {
    for await (const piece of recording.body) await output.raw(piece);
    return undefined;
  }
  const path = options.output ?? nameOf(callId, recording);
  refuseToReplace(path, options);
  const bar = progressBar(io, output.talk);
  try {
    const saved = await recording.saveTo(path, {
      resume: options.resume,
      onProgress: ({ received, total }) => bar.at(received, total),
      signal,
    });
    bar.clear();
    await output.show(saved, (ink) => t`${ink.bold(path)}  ${size(saved.bytes)}`);
  } finally {
    bar.clear();
  }
  return undefined;
}

function refuseToReplace(path: string, { force }: DownloadOptions): void {
  if (!force && existsSync(path))
    throw environment(`${path} is there already.`, 'Pass --force to replace it.');
}

/** A name that stays in this folder, whatever the id is. */
function nameOf(callId: string, { contentType = '' }: Recording): string {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  const name = callId.replace(/[^\w-]/g, '_').slice(0, 100);
  return `${name}${ENDINGS[type] ?? '.audio'}`;
}
