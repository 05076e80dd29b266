import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import { rotate as run, type RotateOptions } from '../rotating/rotate.ts';
import { withServiceOptions } from '../service/connect.ts';
import { withSimulatorOption } from '../simulator/address.ts';

export function rotate(app: App): Command {
  const command = app
    .command('rotate', 'Rotate the signing secret of a webhook action')
    .argument('<ruleId>')
    .argument('<actionId>')
    .option('-o, --secret-out <file>', 'put the new secret first into this file, and keep the old')
    .option('--show-secret', 'print the new secret')
    .option('-y, --yes', 'do not ask');
  return withSimulatorOption(withServiceOptions(command))
    .addHelpText(
      'after',
      `
With --base-url (or $CALL_WEBHOOKS_BASE_URL) it is the service's secret that is rotated, by its REST
interface; without, and with --simulator, that of the running simulator. The next delivery is signed
with the new secret: a receiver that reads the file (--secret-file) knows both.
${examples(
  ['rotate RULE ACTION --secret-out .secret', 'The receiver reads .secret: nothing is lost'],
  ['rotate RULE ACTION --show-secret --yes', 'In a script'],
)}`,
    )
    .action(
      app.run((ruleId: string, actionId: string, options: RotateOptions) =>
        run(app, { ruleId, actionId }, options),
      ),
    );
}
