import type { App } from '../app.ts';
import { badInput } from '../cli-error.ts';
import { secretsGiven } from '../input/secrets.ts';
import { writeSecrets } from '../input/secret-out.ts';
import { targetUrl } from '../input/target-url.ts';
import { happenings } from '../simulator/attempts.ts';
import { connect } from '../simulator/connection.ts';
import { happeningLine, happeningRecord } from '../simulator/delivery-lines.ts';
import { banner } from './banner.ts';
import { forward } from './forward.ts';
import type { SimulateOptions } from './options.ts';
import { start } from './start.ts';

/** Runs the service until it is stopped, and shows every attempt as it ends. */
export async function runSimulator(app: App, options: SimulateOptions): Promise<undefined> {
  const { io, output, signal } = app;
  const urls = (options.forwardTo ?? []).map((url) => targetUrl(url, options.allowExternal));
  const separate = options.separateSecrets ?? false;
  if (separate && (options.secret !== undefined || options.secretFile !== undefined))
    throw badInput('--separate-secrets draws its own: leave out --secret and --secret-file.');
  const [secret] = separate ? [] : await secretsGiven(io, options);
  const simulator = await start(options);
  try {
    const secrets = forward(simulator, { urls, secret, separate });
    if (options.secretOut !== undefined) await writeSecrets(options.secretOut, secrets);
    const { url, apiToken, seed, rules } = simulator;
    if (output.json)
      await output.show(
        { type: 'ready', url, apiToken, seed, secrets, rules: rules.list() },
        () => [],
      );
    else for (const line of banner(output.talk, simulator, secrets)) output.say(line);
    for await (const happening of await happenings(connect(url, signal)))
      await output.show(happeningRecord(happening), (ink) => happeningLine(ink, happening));
  } finally {
    await simulator.close();
  }
  return undefined;
}
