import { type CallField, inferNames } from './infer-names.ts';
import { DEFAULT_FIELD_NAMES, FieldFit } from '@call-webhooks/core/internal';
import type { Rule } from '@call-webhooks/simulator';
import type { Command } from 'commander';
import { type App, examples } from '../app.ts';
import { toCliError } from '../library-error.ts';
import { EXIT } from '../errors.ts';
import { callFieldNames } from '../input/fields.ts';
import { secretsByOwner } from '../input/secrets.ts';
import { givenBaseUrl, serviceClient } from '../service/client.ts';
import { PROXY_VARIABLES, simulatorOf } from '../simulator/connection.ts';
import { type SecretsView, type SigningAction, signingActions } from '../simulator/secrets.ts';
import { counted } from '../terminal/format.ts';
import { paragraph, wrap } from '../terminal/table.ts';
import { type Colors, pad, t, type Text } from '../terminal/text.ts';
import { readSamples } from './infer.ts';
import { bad, type Diagnosis, type Found, ok, skipped, warn } from './diagnosis.ts';
import { nodeVersion } from './doctor-node.ts';
import { type DoctorOptions, withDoctorOptions } from './doctor-options.ts';
import { packages } from './doctor-packages.ts';
import { receivers } from './doctor-receiver.ts';
import { store } from './doctor-store.ts';

/** `doctor`: checks a whole setup. */
export function doctorCommand(app: App, base: Command): Command {
  return withDoctorOptions(base)
    .addHelpText(
      'after',
      `
Checks everything that you point it at: the secrets, the store, the receiver,
captured deliveries and the REST API. The command changes nothing, opens the
store read-only, and runs none of your handlers.

Exit code 1 if a check fails.
${examples(
  ['doctor', 'Check everything that the environment variables name'],
  ['doctor --to 3000/hook --store sqlite:calls.db', 'Check the receiver and its store as well'],
  ['doctor --to 3000/hook --to 3001/hook', 'Check each of two processes'],
)}`,
    )
    .action(
      app.action(async (options: DoctorOptions) => {
        const { output } = app;
        const found = await diagnose(app, options, (one) =>
          output.print(one, (colors) => linesOf(one, colors, output.columns)),
        );
        const bad = found.filter(({ result }) => result === 'bad').length;
        if (bad === 0) return EXIT.done;
        output.message(
          output.messageColors.red(
            bad === 1
              ? `1 of ${found.length} checks failed.`
              : `${bad} of ${found.length} checks failed.`,
          ),
        );
        return EXIT.attention;
      }),
    );
}

const CHECK_WIDTH = 'unknown path'.length;
const INDENT = 'skipped'.length + 2 + CHECK_WIDTH + 2;

function linesOf({ check, result, text, fix }: Diagnosis, colors: Colors, columns: number): Text[] {
  const { green: ok, yellow: warn, red: bad, dim: skipped } = colors;
  const label = { ok, warn, bad, skipped }[result](pad(result, 7));
  return [
    ...wrap(t`${label}  ${pad(check, CHECK_WIDTH)}  ${text}`, columns, INDENT),
    ...(fix === undefined ? [] : paragraph(`Fix: ${fix}`, columns, INDENT)),
  ];
}

/** Runs all checks, one after another. What a check throws is bad. */
export async function diagnose(
  app: App,
  options: DoctorOptions,
  onFound: (one: Diagnosis) => Promise<void> | void = () => undefined,
): Promise<Diagnosis[]> {
  const all: Diagnosis[] = [];
  for (const [check, examine] of EXAMINATIONS) {
    let found: Found | Found[];
    try {
      found = await examine(app, options);
    } catch (error) {
      app.signal.throwIfAborted();
      const { message, fix } = toCliError(error);
      found = bad(message, fix);
    }
    for (const one of [found].flat()) {
      const named = { check, ...one };
      await onFound(named);
      all.push(named);
    }
  }
  return all;
}

async function secrets(app: App, options: DoctorOptions): Promise<Found> {
  const { calls, recording } = await secretsByOwner(app.io, options);
  const given = [...calls, ...recording];
  if (given.length === 0)
    return bad('No secret is given.', 'Set CALL_WEBHOOK_SECRET, or pass --secret-file FILE.');
  if (new Set(given).size < given.length)
    return warn(
      'The same secret is given twice.',
      'Pass each secret once, and check whether another one is missing.',
    );
  const signing = await simulatedActions(app, options);
  const missing = signing.filter(({ secret }) => !given.includes(secret ?? ''));
  if (missing.length > 0)
    return bad(
      `The simulator also signs with secrets that are not given: ${missing.map(({ trigger, actionId }) => `${trigger} (action ${actionId})`).join(', ')}.`,
      'Print them: npx call-webhooks rules list --show-secret',
    );
  if (signing.length > 0)
    return ok('All actions of the simulator sign with the secrets that are given.');
  if (given.length > 1)
    return ok(
      `${counted(calls.length, 'secret')} for call actions, and ${counted(recording.length, 'secret')} for the recording webhook.`,
    );
  return warn(
    'Only one secret is given, but each action has its own secret, and so does the recording webhook.',
    'Set CALL_WEBHOOK_SECRET to the secrets of all actions, separated by commas, and set RECORDING_WEBHOOK_SECRET.',
  );
}

/** The actions of a running simulator that have secrets. Another service does not reveal its secrets. */
async function simulatedActions(app: App, options: DoctorOptions): Promise<SigningAction[]> {
  const connection = simulatorOf(app, options);
  try {
    const all = await connection.get<SecretsView>('/secrets');
    const actions = signingActions(await connection.get<Rule[]>('/rules'), all);
    return actions.filter(({ secret }) => secret !== null);
  } catch (error) {
    app.signal.throwIfAborted();
    if (options.simulator !== undefined) throw error;
    return [];
  }
}

function proxies({ io: { env } }: App): Found {
  const set = PROXY_VARIABLES.filter((name) => env[name]).join(', ');
  if (set === '') return ok('No proxy is configured (HTTP_PROXY, HTTPS_PROXY).');
  if (env['NODE_USE_ENV_PROXY'] === '1') return ok(`Node uses the proxy of ${set}.`);
  const text = `${set} is set, but Node ignores it, so the REST requests of your app bypass the proxy.`;
  return warn(
    text,
    'Set NODE_USE_ENV_PROXY=1 (Node 22.21, 24 or later), or unset the proxy variable.',
  );
}

async function captured(app: App, options: DoctorOptions): Promise<Found | Found[]> {
  if (options.capture === undefined) return skipped('Pass --capture FILE.');
  const samples = await readSamples(app, options.capture);
  const { fieldNames: proposals, read } = inferNames(samples);
  if (read.callEvents === 0) return skipped('The file contains no call events.');
  const lacking = lackingIn(samples, callFieldNames(options.fieldName));
  if (lacking.length === 0)
    return ok(`All seven fields occur in ${counted(read.callEvents, 'captured event')}.`);
  return lacking.map(({ property, text }) => {
    const candidates = proposals.find(({ setting }) => setting === property)?.candidates ?? [];
    // Whoever sends events chooses these names, and an assistant may read them.
    const usual = candidates.filter(({ name }) => /^[A-Za-z_$][\w$]{0,31}$/.test(name));
    const fits = usual.map(({ name }) => `${property}: '${name}'`).join(' or ');
    const fix = fits === '' ? noCandidate(candidates.length) : `In fieldNames: ${fits}`;
    return bad(`${text}, so context.call does not have ${property}.`, fix);
  });
}

const CALL_EVENTS = ['call:started', 'call:completed'] as const;

/** What `context.call` does not have in the captured call events, judged as the receiver does it. */
function lackingIn(
  samples: readonly unknown[],
  given: ReturnType<typeof callFieldNames>,
): readonly { property: CallField; text: string }[] {
  const names = Object.entries({ ...DEFAULT_FIELD_NAMES, ...given }) as [CallField, string][];
  const known = new Set<string>();
  const misfits = CALL_EVENTS.flatMap((eventName) => {
    const events = samples.filter((sample) => nameOf(sample) === eventName) as object[];
    const fit = new FieldFit(eventName, given);
    for (const event of events) {
      fit.look(event);
      for (const field of Object.keys(event)) known.add(field);
    }
    return fit.misfits.map((misfit) => ({ eventName, ...misfit }));
  });
  return names.flatMap(([property, name]) => {
    if (!known.has(name)) return [{ property, text: `No event has the field ${name}` }];
    const misfit = misfits.find((one) => one.property === property);
    if (misfit === undefined) return [];
    return [{ property, text: `In ${misfit.eventName}, ${name} is ${misfit.problem}` }];
  });
}

const nameOf = (sample: unknown): unknown =>
  (Object(sample) as Record<string, unknown>)['eventName'];

const noCandidate = (unusual: number): string =>
  unusual === 0 ? 'Capture more calls.' : 'To see the candidates: npx call-webhooks infer FILE';

async function service(app: App, options: DoctorOptions): Promise<Found> {
  const url = givenBaseUrl(app, options);
  if (url === undefined && options.simulator === undefined)
    return skipped('Pass --base-url URL, or set CALL_WEBHOOKS_BASE_URL.');
  if (url !== undefined && /\/v1\/?$/.test(url))
    return bad(
      'The base URL ends with /v1, but the client adds /v1 itself.',
      'Remove /v1 from it.',
    );
  const client = await serviceClient(app, options);
  await client.calls.list({ limit: 1, signal: app.signal });
  return ok('The service responds, and accepts the token.');
}

type Examine = (app: App, options: DoctorOptions) => Promise<Found | Found[]> | Found;

const EXAMINATIONS: readonly (readonly [check: string, examine: Examine])[] = [
  ['node', () => nodeVersion(process.versions.node, Date.now())],
  ['packages', () => packages()],
  ['secrets', secrets],
  ['proxy', proxies],
  ['store', store],
  ['receiver', receivers],
  ['field names', captured],
  ['REST API', service],
];
