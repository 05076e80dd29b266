import { docsUrl, waitAtMost } from '@call-webhooks/core/internal';
import type {
  ErasureTask,
  Overview,
  ReconcileTask,
  RedriveTask,
  RemovalTask,
  Session,
  Tasks,
} from './api-types.ts';
import { withAttempts } from './dead-letter-answers.ts';
import { DeadLetterDesk, personMatcher } from './dead-letters.ts';
import { DeliveryReader } from './deliveries.ts';
import { newErasure, runErasure } from './erasure.ts';
import { invalid, RequestError } from './http/answer.ts';
import type { KnownOperator } from './http/operator.ts';
import type { ConsoleAction, ConsoleSettings } from './options.ts';
import { OverviewReader } from './overview.ts';
import { newReconcile, runReconcile } from './reconcile.ts';
import { newRedrive, runRedrive, type LettersChoice } from './redrive.ts';
import { newRemoval, runRemoval } from './removal.ts';
import { checked, isStorable, queryOf, REQUESTS, type LettersRequest } from './requests.ts';
import { outcomeTable } from './results.ts';
import { SharedTask, taskStore } from './tasks.ts';
import { readTimes } from './times.ts';

/** One request that may be answered. */
export interface Call {
  readonly query: URLSearchParams;
  /** Of a POST; not checked yet. */
  readonly body: unknown;
  readonly operator: KnownOperator;
  /** The decoded parts of the path. */
  readonly parameters: readonly string[];
}

export type Handler = (call: Call) => unknown;

/** What the page asks for, by path. */
export class Api {
  readonly #settings: ConsoleSettings;
  readonly #log: (action: ConsoleAction) => void;
  readonly #overview: OverviewReader;
  readonly #letters: DeadLetterDesk | undefined;
  readonly #deliveries: DeliveryReader;
  readonly #isShared: boolean;
  readonly #redrive: SharedTask<RedriveTask>;
  readonly #removal: SharedTask<RemovalTask>;
  readonly #erasure: SharedTask<ErasureTask>;
  readonly #reconcile: SharedTask<ReconcileTask>;

  /** @param log is told what somebody did */
  constructor(settings: ConsoleSettings, log: (action: ConsoleAction) => void) {
    const { receiver, deadLetters, logger, clock } = settings;
    const { store, isShared } = taskStore(receiver.store);
    this.#settings = settings;
    this.#log = log;
    this.#overview = new OverviewReader(settings);
    this.#letters = deadLetters && new DeadLetterDesk(deadLetters, logger, clock);
    this.#deliveries = new DeliveryReader(settings, this.#letters);
    this.#isShared = isShared;
    this.#redrive = new SharedTask(store, 'console/redrive', logger, clock);
    this.#removal = new SharedTask(store, 'console/removal', logger, clock);
    this.#erasure = new SharedTask(store, 'console/erasure', logger, clock);
    this.#reconcile = new SharedTask(store, 'console/reconcile', logger, clock);
  }

  readonly routes: readonly (readonly [string, { GET?: Handler; POST?: Handler }])[] = [
    ['/api/session', { GET: ({ query, operator }) => this.#session(query, operator) }],
    ['/api/overview', { GET: (call) => this.#readOverview(call) }],
    [
      '/api/deliveries',
      { GET: ({ query }) => this.#deliveries.page(queryOf(REQUESTS.deliveries, query)) },
    ],
    [
      '/api/failures',
      { GET: ({ query }) => this.#deliveries.failureCauses(queryOf(REQUESTS.failures, query)) },
    ],
    [
      '/api/times',
      { GET: ({ query }) => readTimes(this.#settings, queryOf(REQUESTS.times, query)) },
    ],
    ['/api/deliveries/*', { GET: (call) => this.#deliveries.detail(idOf(call)) }],
    [
      '/api/calls/*',
      {
        GET: (call) => this.#deliveries.call(idOf(call), queryOf(REQUESTS.call, call.query).tenant),
      },
    ],
    [
      '/api/dead-letters',
      { GET: ({ query }) => this.#desk.page(queryOf(REQUESTS.deadLetters, query)) },
    ],
    ['/api/dead-letters/search', { POST: (call) => this.#searchPerson(call) }],
    ['/api/dead-letters/*', { GET: (call) => this.#letter(call) }],
    ['/api/dead-letters/*/reveal', { POST: (call) => this.#reveal(call) }],
    ['/api/dead-letters/*/remove', { POST: (call) => this.#remove(call) }],
    ['/api/tasks', { GET: () => this.#tasks() }],
    ['/api/redrive', { POST: (call) => this.#startRedrive(call) }],
    ['/api/redrive/stop', { POST: (call) => this.#stop(this.#redrive, 'abort-redrive', call) }],
    ['/api/remove', { POST: (call) => this.#startRemoval(call) }],
    ['/api/remove/stop', { POST: (call) => this.#stop(this.#removal, 'abort-removal', call) }],
    ['/api/erase', { POST: (call) => this.#startErasure(call) }],
    ['/api/erase/stop', { POST: (call) => this.#stop(this.#erasure, 'abort-erasure', call) }],
    ['/api/reconcile', { POST: (call) => this.#startReconcile(call) }],
    [
      '/api/reconcile/stop',
      { POST: (call) => this.#stop(this.#reconcile, 'abort-reconcile', call) },
    ],
  ];

  async close(): Promise<void> {
    const tasks = [this.#redrive, this.#removal, this.#erasure, this.#reconcile];
    await Promise.all(tasks.map((task) => task.close()));
  }

  #session(query: URLSearchParams, operator: KnownOperator): Session {
    queryOf(REQUESTS.nothing, query);
    const { readOnly, signIn = null, reconcile, receiver } = this.#settings;
    return {
      name: operator.name,
      canWrite: operator.canWrite && !readOnly,
      readOnly,
      signIn,
      deadLetters: this.#letters?.kind ?? null,
      reconcile: reconcile !== undefined,
      reconcileTenant: reconcile?.tenant ?? null,
      log: receiver.store.log !== undefined,
      outcomes: outcomeTable(this.#letters !== undefined),
      fieldNamesDocs: docsUrl('field-names.md'),
      retentionDocs: docsUrl('personal-data.md#how-long-it-is-kept'),
      canForget: receiver.store.forget !== undefined,
    };
  }

  #readOverview({ query }: Call): Promise<Overview> {
    return this.#overview.read(queryOf(REQUESTS.overview, query));
  }

  get #desk(): DeadLetterDesk {
    if (this.#letters) return this.#letters;
    throw new RequestError(
      'not-configured',
      'The console has no dead-letter store. Pass deadLetters to createConsole.',
    );
  }

  async #letter(call: Call) {
    const letter = await this.#desk.detail(idOf(call));
    return withAttempts(letter, await this.#deliveries.failures(letter));
  }

  async #reveal(call: Call) {
    const letterId = idOf(call);
    const detail = await this.#desk.detail(letterId, true);
    // Before anybody sees it.
    this.#log({ action: 'reveal', by: call.operator.name, letterId });
    return detail;
  }

  /** Whom somebody searches for is in no log line and no answer. */
  async #searchPerson({ body, operator }: Call) {
    const query = checked(REQUESTS.person, body);
    const found = await this.#desk.search(query);
    this.#log({ action: 'search', by: operator.name });
    return found;
  }

  async #remove(call: Call) {
    const letterId = idOf(call);
    const removed = await this.#desk.remove(letterId);
    if (removed) this.#log({ action: 'remove', by: call.operator.name, letterId });
    return { removed };
  }

  async #tasks(): Promise<Tasks> {
    const [redrive, removal, erasure, reconcile, waiting] = await Promise.all([
      this.#redrive.read(),
      this.#removal.read(),
      this.#erasure.read(),
      this.#reconcile.read(),
      this.#letters?.waiting().catch(() => null) ?? null,
    ]);
    return { shared: this.#isShared, redrive, removal, erasure, reconcile, waiting };
  }

  async #startRedrive(call: Call): Promise<Tasks> {
    await this.#refuseBeside('removal', 'erasure');
    return this.#startLetters('redrive', call, (choice, cause) =>
      this.#redrive.start(call.operator.name, newRedrive(choice, cause), (task, signal) =>
        runRedrive(choice, task, signal, this.#settings, this.#desk),
      ),
    );
  }

  async #startRemoval(call: Call): Promise<Tasks> {
    await this.#refuseBeside('redrive', 'erasure');
    return this.#startLetters('remove', call, (choice, cause) =>
      this.#removal.start(call.operator.name, newRemoval(choice, cause), (task, signal) =>
        runRemoval(choice, task, signal, this.#settings, this.#desk),
      ),
    );
  }

  /** Starts what goes through many letters, and logs it. */
  async #startLetters(
    action: 'redrive' | 'remove',
    { body, operator }: Call,
    start: (choice: LettersChoice, cause: string | undefined) => Promise<{ ended: Promise<void> }>,
  ): Promise<Tasks> {
    const desk = this.#desk;
    const { waitMs: wait = 0, ...given } = checked(REQUESTS.letters, body);
    const choice = choiceOf(given);
    const cause = 'filter' in choice ? await desk.causeText(choice.filter) : undefined;
    const { ended } = await start(choice, cause);
    const letters = 'ids' in choice && { letters: choice.ids.length };
    const by = operator.name;
    this.#log({ action, by, ...letters, ...(cause !== undefined && { cause }) });
    await waitAtMost(wait, ended);
    return this.#tasks();
  }

  /** Whose letters are erased is in no log line, no answer and no task. */
  async #startErasure({ body, operator }: Call): Promise<Tasks> {
    const desk = this.#desk;
    const { waitMs: wait = 0, forgetKeys = false, ...person } = checked(REQUESTS.erasure, body);
    personMatcher(person.about);
    if (forgetKeys && !this.#settings.receiver.store.forget)
      throw invalid('forgetKeys: the store of this receiver cannot forget keys');
    await this.#refuseBeside('redrive', 'removal');
    const by = operator.name;
    const { ended } = await this.#erasure.start(by, newErasure(forgetKeys), (task, signal) =>
      runErasure(person, task, signal, this.#settings, desk),
    );
    this.#log({ action: 'erase', by, forgetKeys });
    await waitAtMost(wait, ended);
    return this.#tasks();
  }

  /** One would take what another one is about to run. */
  async #refuseBeside(...others: readonly (keyof typeof NAMES)[]): Promise<void> {
    const tasks = { redrive: this.#redrive, removal: this.#removal, erasure: this.#erasure };
    for (const other of others)
      if ((await tasks[other].read())?.state === 'running')
        throw new RequestError(
          'already-running',
          `${NAMES[other]} is running. Wait until it has finished, or stop it.`,
        );
  }

  async #startReconcile({ body, operator }: Call): Promise<Tasks> {
    const settings = this.#settings;
    const { reconcile } = settings;
    if (!reconcile)
      throw new RequestError(
        'not-configured',
        'Reconciling is not configured. Pass reconcile: { client } to createConsole.',
      );
    const { waitMs: wait = 0, ...asked } = checked(REQUESTS.reconcile, body);
    const by = operator.name;
    const content = newReconcile(asked, await this.#reconcile.read(), settings);
    const done = await this.#reconcile.start(by, content, (task, signal) =>
      runReconcile(task, signal, { ...settings, reconcile }),
    );
    this.#log({ action: 'reconcile', by, dryRun: asked.dryRun });
    await waitAtMost(wait, done.ended);
    return this.#tasks();
  }

  async #stop(
    task: Pick<SharedTask<never>, 'stop'>,
    action: ConsoleAction['action'],
    { body, operator }: Call,
  ): Promise<Tasks> {
    checked(REQUESTS.nothing, body);
    if (await task.stop()) this.#log({ action, by: operator.name });
    return this.#tasks();
  }
}

const MAX_ID = 300;

function idOf({ parameters: [id = ''] }: Call): string {
  if (id === '' || id.length > MAX_ID || !isStorable(id))
    throw invalid(
      `expected an id of 1 to ${String(MAX_ID)} characters, without control characters`,
    );
  return id;
}

/** What goes through dead letters, of which one may run at a time. */
const NAMES = { redrive: 'A redrive', removal: 'A removal', erasure: 'An erasure' } as const;

/** Exactly one of the three: nobody redrives or removes all by leaving something out. */
function choiceOf({ ids, filter, all }: Omit<LettersRequest, 'waitMs'>): LettersChoice {
  const given = [ids, filter, all].filter((one) => one !== undefined);
  if (given.length !== 1) throw invalid('expected exactly one of ids, filter and all');
  return ids ? { ids: [...new Set(ids)] } : { filter: filter ?? {} };
}
