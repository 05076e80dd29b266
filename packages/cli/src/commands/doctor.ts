import { inferNames } from './infer-names.ts';
import { DEFAULT_FIELD_NAMES } from '@call-webhooks/core/internal';
import type { Rule } from '@call-webhooks/simulator';
import type { Command } from 'commander';
import { type App, examples } from '../app.ts';
import { toCliError } from '../library-error.ts';
import { EXIT } from '../errors.ts';
import { basicReceiver, grade, isBasic, serverErrorOf } from '../grader/grade.ts';
import { type GradedReceiver, isAcknowledged } from '../grader/receiver.ts';
import { BASELINE } from '../grader/vectors.ts';
import { describeResult } from '../http/effects.ts';
import { post } from '../http/post.ts';
import { callFieldNames, withFieldNameOption } from '../input/fields.ts';
import {
  givenSecrets,
  type SecretOptions,
  secretsByOwner,
  withSecretOptions,
} from '../input/secrets.ts';
import { type ReceiverOptions, targetUrl, withReceiverOptions } from '../input/target.ts';
import { durationOption } from '../input/time.ts';
import {
  givenBaseUrl,
  serviceClient,
  type ServiceOptions,
  withServiceOptions,
} from '../service/client.ts';
import { PROXY_VARIABLES, simulatorOf } from '../simulator/connection.ts';
import { type SecretsView, type SigningAction, signingActions } from '../simulator/secrets.ts';
import type { OpenedStore } from '../store/engine.ts';
import {
  isStoreGiven,
  STORE_VARIABLE,
  type StoreOptions,
  withStore,
  withStoreOptions,
} from '../store/open-store.ts';
import { plainText, statusOf, type ToldStatus } from '../store/status.ts';
import { checkTenant, TENANT_FLAG } from '../store/tenants.ts';
import { counted, duration } from '../terminal/format.ts';
import { paragraph, wrap } from '../terminal/table.ts';
import { type Colors, pad, t, type Text } from '../terminal/text.ts';
import { readSamples } from './infer.ts';
import { bad, type Diagnosis, type Found, ok, skipped, warn } from './diagnosis.ts';
import { nodeVersion } from './doctor-node.ts';
import { packages } from './doctor-packages.ts';

/** The flags of `doctor`. */
export interface DoctorOptions
  extends StoreOptions, SecretOptions, ReceiverOptions, ServiceOptions {
  readonly to?: string;
  readonly capture?: string;
  readonly fieldName?: readonly string[];
  readonly headerPrefix?: string;
  readonly tenant?: string;
  readonly timeout: number;
}

const RECEIVERS_NAMES = "the receiver's fieldNames, such as placedBy=owner; repeatable";

/** Adds the flags of {@link DoctorOptions}. */
export const withDoctorOptions = (command: Command): Command =>
  withStoreOptions(
    withServiceOptions(
      withReceiverOptions(withSecretOptions(withFieldNameOption(command, RECEIVERS_NAMES))),
    ),
  )
    .option(
      '--to <url>',
      'the URL of the running receiver; 3000/hook means http://127.0.0.1:3000/hook',
    )
    .option('--header-prefix <prefix>', 'the prefix of the signature headers (X-Service)')
    .option('--tenant <name>', 'check only the dead letters and the status of this tenant')
    .option('--capture <file>', 'captured deliveries, the output of listen --json')
    .addOption(
      durationOption('--timeout <duration>', 'how long to wait for each response', 10_000),
    );

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

function store(app: App, options: DoctorOptions): Promise<Found[]> | Found {
  if (!isStoreGiven(app, options)) return skipped(`Pass --store URL, or set ${STORE_VARIABLE}.`);
  const examine = async (opened: OpenedStore) => {
    const { deadLetters, doubt, inspect } = opened;
    const { tenant } = options;
    const { server, problems } = await inspect();
    const waiting = await deadLetters.count(tenant === undefined ? undefined : { tenant });
    const all: Found[] = [...problems];
    const doubtful = waiting === 0 ? await doubt?.() : undefined;
    if (doubtful !== undefined) all.push(bad(doubtful, 'Check --store and --prefix.'));
    if (all.length === 0) all.push(ok(`${server} responds.`));
    const fix = 'To see the causes: npx call-webhooks dead-letters causes';
    if (waiting > 0)
      all.push({
        ...warn(
          `${counted(waiting, 'dead letter')} ${waiting === 1 ? 'is' : 'are'} waiting to be redriven or removed.`,
          fix,
        ),
        check: 'dead letters',
      });
    const unknown =
      tenant === undefined
        ? undefined
        : await checkTenant(opened, tenant, { ...TENANT_FLAG, ifWrong: IF_WRONG });
    if (unknown !== undefined) all.push({ ...warn(unknown, 'Check --tenant.'), check: 'tenant' });
    return [...all, ...statusChecks(await statusOf(opened, { tenant }))];
  };
  return withStore(app, options, examine, true);
}

const IF_WRONG = 'If the name is wrong, its status is meaningless.';

/** What `status` says, as checks: what is urgent is bad. */
function statusChecks({ line, attention, undecided, unknown }: ToldStatus): Found[] {
  const check = 'status';
  if (attention.length === 0) {
    const text = plainText(unknown ?? line);
    const isKnown = unknown === undefined && undecided.length === 0;
    return [{ ...(isKnown ? ok : skipped)(text), check }];
  }
  return attention.map(({ urgent, text, fix }) => ({
    ...(urgent ? bad : warn)(plainText(text), plainText(fix)),
    check,
  }));
}

async function receiver(app: App, options: DoctorOptions): Promise<Found | Found[]> {
  if (options.to === undefined) return skipped('Pass --to URL.');
  const url = targetUrl(options.to, options.allowExternal);
  const [secret, ...others] = await givenSecrets(app.io, options);
  const graded = basicReceiver(app, { ...options, url, secret });
  const grades = await grade(graded, isBasic);
  const failure = serverErrorOf(grades);
  if (failure !== undefined) return bad(failure, "Read the receiver's log.");
  const all = grades
    .filter(({ result }) => result === 'fail')
    .map(({ check: { title }, saw, fix }) => bad(`${title}: ${saw}.`, fix));
  const genuine =
    secret === undefined
      ? 'Without a secret, no genuine delivery was sent'
      : 'A genuine delivery is acknowledged';
  if (all.length === 0) all.push(ok(`A forged delivery is rejected. ${genuine}.`));
  if (grades.some(({ check, result }) => check.id === BASELINE && result === 'pass'))
    all.push(...(await deliver(graded, others)));
  return [...all, await unknownPath(app, url, options), clock(graded.clockAhead)];
}

/** Above what body parsers take by default; bytes. */
const LARGE_BODY = 262_144;

/** Delivers an event that nobody handles: with each further secret, and a large one. */
async function deliver(receiver: GradedReceiver, others: readonly string[]): Promise<Found[]> {
  const send = async (secret?: string, padding = '') => {
    const { callId, name: eventName } = receiver.event();
    const body = JSON.stringify({ eventName, callId, padding });
    const result = await receiver.send(receiver.sign(body, secret));
    return isAcknowledged(result) ? undefined : describeResult(result);
  };
  const all: Found[] = [];
  for (const [at, other] of others.entries()) {
    const refused = await send(other);
    const which = `secret ${at + 2} of ${others.length + 1}`;
    if (refused)
      all.push(
        bad(
          `A delivery that was signed with ${which} was not acknowledged: ${refused}.`,
          'Configure this secret in the receiver as well.',
        ),
      );
  }
  const refused = await send(undefined, 'x'.repeat(LARGE_BODY));
  const fix = 'Raise the limit of the proxy and of the framework to 1 MB.';
  const large = refused
    ? bad(`A body of 256 kB was not acknowledged: ${refused}.`, fix)
    : ok('A body of 256 kB is acknowledged.');
  return [...all, { ...large, check: 'large body' }];
}

async function unknownPath(
  { signal }: App,
  url: string,
  { insecure, timeout }: DoctorOptions,
): Promise<Found> {
  const other = new URL(url);
  other.pathname += other.pathname.endsWith('/') ? 'typo' : '-typo';
  const headers = { 'Content-Type': 'application/json' };
  const request = { url: other.href, headers, body: Buffer.from('{}'), timeout, insecure };
  const answer = describeResult(await post(request, signal));
  const text = `A request to ${other.pathname} results in ${answer}.`;
  const risk = 'A typo in the path of a rule would pause the rule at once.';
  const result =
    answer === '404' ? warn(`${text} ${risk}`, 'Return 503 for unknown paths.') : ok(text);
  return { ...result, check: 'unknown path' };
}

/** Of the five minutes of the spec, one is left for the way. @param ahead seconds */
function clock(ahead: number | undefined): Found {
  const check = 'clock';
  if (ahead === undefined)
    return { ...skipped('The responses of the receiver have no Date header.'), check };
  const off = Math.abs(ahead) * 1_000;
  if (off < 30_000)
    return { ...ok("The receiver's clock agrees with the clock of this machine."), check };
  const text = `The receiver's clock is ${duration(off)} ${ahead > 0 ? 'ahead of' : 'behind'} the clock of this machine. From 5 minutes on, all deliveries are rejected.`;
  const fix = 'Synchronize both clocks with NTP.';
  return { ...(off < 240_000 ? warn : bad)(text, fix), check };
}

async function captured(app: App, options: DoctorOptions): Promise<Found | Found[]> {
  if (options.capture === undefined) return skipped('Pass --capture FILE.');
  const samples = await readSamples(app, options.capture);
  const { fieldNames: proposals, read } = inferNames(samples);
  if (read.callEvents === 0) return skipped('The file contains no call events.');
  const settings = Object.keys(DEFAULT_FIELD_NAMES) as (keyof typeof DEFAULT_FIELD_NAMES)[];
  const names = { ...DEFAULT_FIELD_NAMES, ...callFieldNames(options.fieldName) };
  const known = new Set(samples.flatMap((sample) => Object.keys(Object(sample) as object)));
  const missing = settings.filter((setting) => !known.has(names[setting]));
  if (missing.length === 0)
    return ok(`All seven fields occur in ${counted(read.callEvents, 'captured event')}.`);
  return missing.map((setting) => {
    const candidates = proposals.find((one) => one.setting === setting)?.candidates ?? [];
    // Whoever sends events chooses these names, and an assistant may read them.
    const usual = candidates.filter(({ name }) => /^[A-Za-z_$][\w$]{0,31}$/.test(name));
    const fits = usual.map(({ name }) => `${setting}: '${name}'`).join(' or ');
    const text = `No event has the field ${names[setting]}, so context.call does not have ${setting}.`;
    return bad(text, fits === '' ? noCandidate(candidates.length) : `In fieldNames: ${fits}`);
  });
}

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
  ['receiver', receiver],
  ['field names', captured],
  ['REST API', service],
];
