import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import { replay as run, type ReplayOptions } from '../triggering/replay.ts';
import { withSimulatorOption } from '../simulator/address.ts';

export function replay(app: App): Command {
  const command = app
    .command('replay', 'Send a delivery of the simulator once more')
    .argument('<id>', 'the delivery, or the beginning of its id')
    .option('--re-sign', 'as a new delivery: a new webhook id, a new time, a new signature');
  return withSimulatorOption(command)
    .addHelpText(
      'after',
      `
Without --re-sign the last request is sent again byte for byte, as somebody would who captured it:
a receiver is to refuse it (409, or 401 once it is five minutes old). Exit code 1 when it does not.
With --re-sign the event is delivered anew: a receiver is to acknowledge it (as a duplicate).
${examples(['replay 1f2e', 'Is a captured request refused?'], ['replay 1f2e --re-sign', 'Deliver the event again'])}`,
    )
    .action(app.run((id: string, options: ReplayOptions) => run(app, id, options)));
}
