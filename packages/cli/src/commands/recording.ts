import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import { withServiceOptions } from '../service/connect.ts';
import { download, type DownloadOptions } from '../service/download.ts';

export function recording(app: App): Command {
  return withServiceOptions(app.command('recording', "Download a call's recording"))
    .argument('<callId>', 'the call')
    .option(
      '-o, --output <file>',
      'where to; - for standard output; <callId> and an ending without it',
    )
    .option('--resume', 'keep what arrived when it breaks off, and go on from there')
    .option('--force', 'replace a file that is there')
    .addHelpText(
      'after',
      examples(
        ['recording 4d0c… -o call.wav --resume', 'Into a file that is there only when it is whole'],
        ['recording 4d0c… -o - | ffplay -', 'Listen to it'],
      ),
    )
    .action(app.run((callId: string, options: DownloadOptions) => download(app, callId, options)));
}
