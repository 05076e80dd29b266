import { SecretNotSavedError } from '@call-webhooks/client';
import type { App } from '../app.ts';
import { badInput } from '../cli-error.ts';
import { EXIT } from '../exit.ts';
import { isLoopback } from '../input/target-url.ts';
import { baseUrlGiven, serviceClient, type ServiceOptions } from '../service/connect.ts';
import { simulatorUrl } from '../simulator/address.ts';
import { connect } from '../simulator/connection.ts';
import { confirm } from '../terminal/ask.ts';
import { t } from '../terminal/text.ts';
import { fileStore } from './file-store.ts';

/** The flags of `rotate`. */
export interface RotateOptions extends ServiceOptions {
  readonly simulator?: string;
  readonly secretOut?: string;
  readonly showSecret?: boolean;
  readonly yes?: boolean;
}

interface Action {
  readonly ruleId: string;
  readonly actionId: string;
}

/** Ten minutes: no signature of the old secret verifies for longer. */
const OVERLAP_MS = 600_000;

/** Rotates a secret, of the service or of the simulator, and puts it where it was asked for. */
export async function rotate(app: App, action: Action, options: RotateOptions): Promise<number> {
  const { output } = app;
  const baseUrl = options.simulator === undefined ? baseUrlGiven(app, options) : undefined;
  const secret =
    baseUrl === undefined
      ? await ofSimulator(app, action, options)
      : await ofService(app, action, options, baseUrl);
  const { secretOut: file, showSecret } = options;
  await output.show({ ...action, rotated: true, file, ...(showSecret && { secret }) }, (ink) =>
    showSecret ? t`${secret}` : t`${ink.green('rotated')}  ${action.actionId}`,
  );
  if (file !== undefined) output.say(t`The new secret is the first line of ${file}.`);
  return EXIT.done;
}

async function ofService(
  app: App,
  { ruleId, actionId }: Action,
  options: RotateOptions,
  baseUrl: string,
): Promise<string> {
  const { output, signal } = app;
  // The service tells a secret once: it is not rotated unless somebody takes it.
  if (options.secretOut === undefined && !options.showSecret)
    throw badInput('Where is the new secret to go?', 'Pass --secret-out FILE, or --show-secret.');
  const client = await serviceClient(app, options);
  await allowed(app, options, baseUrl);
  if (options.secretOut === undefined)
    return (await client.rules.rotateSigningSecret(ruleId, actionId, { signal })).secret;
  try {
    const store = fileStore(options.secretOut);
    const asked = { ruleId, actionId, overlap: OVERLAP_MS, signal };
    return (await client.rules.rotateInto(store, asked)).current.secret;
  } catch (error) {
    // Lost for good is worse than seen: it is printed, although nobody asked.
    if (error instanceof SecretNotSavedError)
      output.say(t`The file could not be written. The new secret, keep it: ${error.secret}`);
    throw error;
  }
}

async function allowed(app: App, { yes }: RotateOptions, baseUrl: string): Promise<void> {
  const loopback = URL.canParse(baseUrl) && isLoopback(new URL(baseUrl).hostname);
  if (yes || loopback) return;
  if (!app.interactive)
    throw badInput('The old secret stops signing at once.', 'Pass --yes if that is what you want.');
  if (await confirm(app, `Rotate the secret at ${baseUrl}? The old one stops signing at once.`))
    return;
  throw badInput('Nothing was rotated.');
}

async function ofSimulator(
  { io, signal }: App,
  { ruleId, actionId }: Action,
  { simulator, secretOut }: RotateOptions,
): Promise<string> {
  const connection = connect(simulatorUrl(io, simulator), signal);
  const store = secretOut === undefined ? undefined : fileStore(secretOut);
  const old = (await store?.load()) ?? [];
  const path = `/rules/${encodeURIComponent(ruleId)}/actions/${encodeURIComponent(actionId)}/rotate`;
  const { signingSecret: secret } = await connection.post<{ signingSecret: string }>(path);
  const expiresAt = Date.now() + OVERLAP_MS;
  await store?.save([
    { id: 'current', secret },
    ...old.map((one) => ({ ...one, expiresAt: one.expiresAt ?? expiresAt })),
  ]);
  return secret;
}
