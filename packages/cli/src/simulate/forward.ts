import { SimulatorError, type Simulator } from '@call-webhooks/simulator';
import { badInput } from '../cli-error.ts';

interface Wanted {
  readonly urls: readonly string[];
  /** For all actions; otherwise one is drawn. */
  readonly secret: string | undefined;
  /** Each action gets a secret of its own. */
  readonly separate: boolean;
}

/**
 * Makes the rules that send everything to these receivers, unless a snapshot brought them already.
 * All have the same secret, so that a receiver needs to know one; the service gives each its own.
 * @returns what those receivers have to know
 * @throws CliError 2 for a secret or a URL that can't be used
 */
export function forward(simulator: Simulator, { urls, secret, separate }: Wanted): string[] {
  const { rules, secrets } = simulator;
  try {
    for (const url of urls) {
      const known = rules.list().some(({ actions }) => actions.some((one) => one.url === url));
      if (known) continue;
      const chosen = separate ? undefined : (secret ?? secrets.all()[0]);
      const first = rules.create({ trigger: 'call:started', actions: [{ url, secret: chosen }] });
      const shared = separate ? undefined : secrets.get(first.actions[0]?._id ?? '')?.current;
      rules.create({ trigger: 'call:completed', actions: [{ url, secret: shared }] });
      addRecordings(simulator, url, shared);
    }
  } catch (error) {
    if (error instanceof SimulatorError) throw badInput(error.message);
    throw error;
  }
  return secrets.all();
}

/** There is one recording webhook only; for a second receiver it stays where it is. */
function addRecordings({ rules }: Simulator, url: string, secret: string | undefined): void {
  if (rules.list().some(({ kind }) => kind === 'recording-webhook')) return;
  rules.setRecordingWebhook({ url, secret });
}
