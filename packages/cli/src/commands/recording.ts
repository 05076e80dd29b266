import { existsSync } from 'node:fs';
import type { Recording } from '@call-webhooks/client';
import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import { badInput, environmentError } from '../errors.ts';
import { serviceClient, withServiceOptions, type ServiceOptions } from '../service/client.ts';
import { size } from '../terminal/format.ts';
import { progressBar } from '../terminal/progress.ts';
import { t } from '../terminal/text.ts';

interface RecordingOptions extends ServiceOptions {
  readonly output?: string;
  readonly force?: boolean;
}

/** `recording`: downloads the recording of a call. */
export function recordingCommand(app: App, base: Command): Command {
  return withServiceOptions(base)
    .argument('<callId>', 'the id of the call')
    .option(
      '-o, --output <file>',
      'the file, or - for stdout (default: the call id with an extension for its type)',
    )
    .option('--force', 'replace an existing file')
    .addHelpText(
      'after',
      examples(
        ['recording 4d0c…', 'Save it; the file appears when it is complete'],
        ['recording 4d0c… -o - | ffplay -', 'Listen to it'],
      ),
    )
    .action(
      app.action((callId: string, options: RecordingOptions) => download(app, callId, options)),
    );
}

async function download(app: App, callId: string, options: RecordingOptions): Promise<undefined> {
  const { io, output, signal } = app;
  const toStdout = options.output === '-';
  if (toStdout && io.stdout.isTTY)
    throw badInput('A recording cannot be shown in a terminal.', 'Pass -o FILE, or pipe it.');
  if (toStdout && output.json)
    throw badInput('--json and -o - exclude each other.', 'Remove one of them.');
  if (options.output !== undefined && !toStdout) refuseToReplace(options.output, options);
  const client = await serviceClient(app, options);
  const recording = await client.calls.recording(callId, { signal });
  if (toStdout) {
    for await (const chunk of recording.body) await output.write(chunk);
    return undefined;
  }
  const path = options.output ?? fileName(callId, recording);
  refuseToReplace(path, options);
  const bar = progressBar(io, output.messageColors);
  try {
    const saved = await recording.saveTo(path, {
      onProgress: ({ received, total }) => bar.update(received, total),
      signal,
    });
    bar.clear();
    await output.print(saved, ({ bold }) => t`${bold(path)}  ${size(saved.bytes)}`);
  } finally {
    bar.clear();
  }
  return undefined;
}

function refuseToReplace(path: string, { force }: RecordingOptions): void {
  if (!force && existsSync(path))
    throw environmentError(`${path} already exists.`, 'Pass --force to replace it.');
}

/** The spec does not show the format of a recording, so its content type decides. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  'audio/wav': '.wav',
  'audio/x-wav': '.wav',
  'audio/wave': '.wav',
  'audio/mpeg': '.mp3',
  'audio/mp4': '.m4a',
  'audio/ogg': '.ogg',
  'audio/webm': '.webm',
};

/** A file name in the current directory, whatever the id is. */
function fileName(callId: string, { contentType = '' }: Recording): string {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  const name = callId.replace(/[^\w-]/g, '_').slice(0, 100);
  return `${name}${EXTENSIONS[type] ?? '.audio'}`;
}
