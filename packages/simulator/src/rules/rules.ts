import * as z from 'zod/mini';
import type { Directory } from '../activity/directory.ts';
import type { SimulatorClock } from '../clock/clock.ts';
import { checked, flag, SimulatorError, text } from '../errors.ts';
import type { Settings } from '../options.ts';
import { omit, Records, type ChangeEmitter } from '../records.ts';
import type { SeededRandom } from '../seeded-random.ts';
import type { Action, EventName, PauseReason, Rule } from './rule.ts';
import { secretText, type Secrets } from './secrets.ts';

const isHttpUrl = (url: unknown): boolean => {
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
  return /^https?:$/.test(parsed?.protocol ?? '') && !parsed?.username && !parsed?.password;
};
const ACTION = z.strictObject({
  url: z.custom<string>(isHttpUrl, 'an http or https URL without user name and password'),
  payload: z.optional(z.unknown()),
  signed: z.optional(flag()),
  secret: z.optional(secretText()),
});
const ACTION_CHANGES = z.partial(ACTION);
const RECORDING_WEBHOOK = z.omit(ACTION, { payload: true });
/** The receiver of all three events. */
export const FORWARD = z.pick(ACTION, { url: true, secret: true });
const RULE = z.strictObject({
  trigger: z.enum(
    ['call:started', 'call:completed'],
    '"call:started" or "call:completed"; for recordings, set the recording webhook',
  ),
  scope: z.optional(z.enum(['user', 'workspace'], '"user" or "workspace"')),
  ownerId: z.optional(text()),
  name: z.optional(text()),
  actions: z.optional(z.readonly(z.array(ACTION))),
});

/**
 * A new webhook action. `url` is http or https, and on this machine unless `allowExternal` is set.
 * `payload` is any JSON value that is sent instead of the event, with `{{placeholders}}` in its
 * strings. `secret` (`whsec_…`) is generated from the seed by default. `signed: false` creates an old
 * action without a secret, whose deliveries are not signed.
 * @guess Size of bodies
 */
export type ActionInput = z.input<typeof ACTION>;

/**
 * Changes to a webhook action. A field that is left out stays as it is. `payload: null` removes the
 * custom payload.
 */
export type ActionChanges = z.input<typeof ACTION_CHANGES>;

/**
 * A new rule. `scope` is `user` by default. `ownerId` is the `_id` of a user, by default the first user
 * of the workspace. Without a `name`, the rule is named after its trigger. Without `actions`, it sends
 * nothing.
 */
export type RuleInput = z.input<typeof RULE>;

/** Whether a host name always means this machine, whatever DNS says. */
export const isLoopback = (hostname: string): boolean =>
  /^(?:[^.]+\.)*localhost$/i.test(hostname) ||
  /^127(?:\.\d{1,3}){3}$/.test(hostname) ||
  hostname === '[::1]';

/** The name of a rule that was created without one. */
function defaultName(trigger: EventName, scope: Rule['scope']): string {
  const [mine, theirs] = trigger === 'call:started' ? ['start', 'starts'] : ['finish', 'finishes'];
  return scope === 'user' ? `I ${mine} a call` : `A teammate ${theirs} a call`;
}

/** The waiting events of rules, which the scheduler has. */
interface WaitingEvents {
  onActionsRemoved(ruleId: string): void;
  onRulePaused(ruleId: string): void;
  onRuleResumed(ruleId: string): void;
}

/** What is used of the simulation. */
interface Parts {
  readonly changes: ChangeEmitter;
  readonly clock: SimulatorClock;
  readonly directory: Directory;
  readonly random: SeededRandom;
  readonly scheduler: WaitingEvents;
  readonly secrets: Secrets;
  readonly settings: Pick<Settings, 'allowExternal'>;
}

/** The rules of the service and its call recording webhook. */
export class Rules {
  readonly #simulation: Parts;
  readonly #rules: Records<Rule>;
  /** How many rules and actions were created: their ids derive from it. */
  #created = 0;

  constructor(simulation: Parts) {
    this.#simulation = simulation;
    this.#rules = new Records('rule', simulation.changes);
  }

  /** Returns all rules, and the recording webhook if it is set, in the order of creation. */
  list(): Rule[] {
    return this.#rules.list();
  }

  /** @internal */
  find(ruleId: string): Rule | undefined {
    return this.#rules.find(ruleId);
  }

  /**
   * Returns one rule.
   * @throws SimulatorError `not-found`
   */
  get(ruleId: string): Rule {
    return this.#rules.get(ruleId);
  }

  /**
   * Returns one webhook action of a rule.
   * @throws SimulatorError `not-found`
   */
  action(ruleId: string, actionId: string): Action {
    const action = this.get(ruleId).actions.find(({ _id }) => _id === actionId);
    if (!action) throw new SimulatorError('not-found', 'The rule has no action with this id.');
    return action;
  }

  /**
   * Creates a rule.
   * @throws SimulatorError `invalid-input`, `external-target`, or `not-found` for an unknown owner
   * @example
   * simulator.rules.create({ trigger: 'call:completed', actions: [{ url: 'http://127.0.0.1:3000/hook' }] });
   */
  create(input: RuleInput): Rule {
    const { actions = [], ...rule } = checked(RULE, input);
    for (const { url } of actions) this.#checkTarget(url);
    const created = this.#newRule(rule);
    return this.#rules.put({ ...created, actions: actions.map((one) => this.#action(one)) });
  }

  /**
   * Removes a rule, or the recording webhook, with its actions and secrets. Its events that are waiting
   * to be sent are dropped.
   * @throws SimulatorError `not-found`
   */
  remove(ruleId: string): void {
    const { secrets, scheduler } = this.#simulation;
    for (const { _id } of this.get(ruleId).actions) secrets.forget(_id);
    this.#rules.delete(ruleId);
    scheduler.onActionsRemoved(ruleId);
  }

  /**
   * Sets the webhook for recordings, which belongs to no rule. A second call changes its URL, and its
   * secret if one is given.
   * @throws SimulatorError `invalid-input`, `external-target`
   */
  setRecordingWebhook(input: Omit<ActionInput, 'payload'>): Rule {
    const old = this.list().find((rule) => rule.kind === 'recording-webhook');
    const action = this.#action(checked(RECORDING_WEBHOOK, input), old?.actions[0]);
    const rule =
      old ??
      this.#newRule({
        name: 'Call recording webhook',
        scope: 'workspace',
        trigger: 'call:recording-available',
      });
    return this.#rules.put({ ...rule, actions: [action] });
  }

  /**
   * Sends all three events of all calls to one receiver, by creating two workspace rules and setting
   * the recording webhook. Each of them has its own secret, unless `secret` is given.
   * @returns the two rules and the recording webhook
   * @throws SimulatorError `invalid-input`, `external-target`
   * @example
   * const [started] = simulator.rules.forwardTo('http://127.0.0.1:3000/hook');
   */
  forwardTo(url: string, options: { secret?: string | undefined } = {}): Rule[] {
    const action = checked(FORWARD, { url, ...options });
    return [
      this.create({ trigger: 'call:started', scope: 'workspace', actions: [action] }),
      this.create({ trigger: 'call:completed', scope: 'workspace', actions: [action] }),
      this.setRecordingWebhook(action),
    ];
  }

  /**
   * Adds a webhook action to a rule.
   * @throws SimulatorError `not-found`, `invalid-input`, `external-target`, or `conflict` for the
   *   recording webhook, which has only one URL
   */
  addAction(ruleId: string, input: ActionInput): Action {
    const rule = this.get(ruleId);
    if (rule.kind === 'recording-webhook')
      throw new SimulatorError('conflict', 'The recording webhook has one URL. Change it instead.');
    const action = this.#action(checked(ACTION, input));
    this.#rules.put({ ...rule, actions: [...rule.actions, action] });
    return action;
  }

  /**
   * Changes a webhook action. Retries of earlier events go to the new URL, with the payload that they
   * had. `signed: true` gives an unsigned action a secret.
   * @guess How rules and actions are edited and removed
   * @throws SimulatorError `not-found`, `invalid-input`, `external-target`, or `conflict` for a payload
   *   of the recording webhook
   */
  updateAction(ruleId: string, actionId: string, changes: ActionChanges): Action {
    const rule = this.get(ruleId);
    const old = this.action(ruleId, actionId);
    const {
      url = old.url,
      signed = old.signed,
      secret,
      ...rest
    } = checked(ACTION_CHANGES, changes);
    if (rule.kind === 'recording-webhook' && rest.payload !== undefined)
      throw new SimulatorError('conflict', 'The recording webhook has no custom payload.');
    const payload = rest.payload === undefined ? old.payload : (rest.payload ?? undefined);
    const action = this.#action({ url, signed, secret, payload }, old);
    const actions = rule.actions.map((one) => (one._id === actionId ? action : one));
    this.#rules.put({ ...rule, actions });
    return action;
  }

  /**
   * Removes a webhook action and its secret. Its events that are waiting to be sent are dropped.
   * @throws SimulatorError `not-found`, or `conflict` for the recording webhook
   */
  removeAction(ruleId: string, actionId: string): void {
    const { secrets, scheduler } = this.#simulation;
    const rule = this.get(ruleId);
    this.action(ruleId, actionId);
    if (rule.kind === 'recording-webhook')
      throw new SimulatorError('conflict', 'Remove the recording webhook instead of its action.');
    secrets.forget(actionId);
    this.#rules.put({ ...rule, actions: rule.actions.filter(({ _id }) => _id !== actionId) });
    scheduler.onActionsRemoved(ruleId);
  }

  /**
   * Pauses a rule. A rule that is already paused stays as it is.
   * @throws SimulatorError `not-found`
   */
  pause(ruleId: string, reason: PauseReason = 'by-hand'): Rule {
    const { clock, scheduler } = this.#simulation;
    const rule = this.get(ruleId);
    if (rule.state === 'paused') return rule;
    const pausedAt = clock.now();
    const paused = this.#rules.put({ ...rule, state: 'paused', pauseReason: reason, pausedAt });
    scheduler.onRulePaused(ruleId);
    return paused;
  }

  /**
   * Resumes a paused rule. Events that were held are sent.
   * @throws SimulatorError `not-found`
   */
  resume(ruleId: string): Rule {
    const rule = omit(this.get(ruleId), 'pauseReason', 'pausedAt');
    if (rule.state === 'active') return rule;
    const resumed = this.#rules.put({ ...rule, state: 'active' });
    this.#simulation.scheduler.onRuleResumed(ruleId);
    return resumed;
  }

  /** @internal */
  clear(): void {
    this.#rules.clear();
    this.#created = 0;
  }

  #newRule(rule: Omit<RuleInput, 'trigger' | 'actions'> & Pick<Rule, 'trigger'>): Rule {
    const { random, directory } = this.#simulation;
    const { trigger, scope = 'user', name = defaultName(trigger, scope), ownerId } = rule;
    return {
      _id: random.id('rule', this.#created++),
      kind: trigger === 'call:recording-available' ? 'recording-webhook' : 'rule',
      name,
      trigger,
      scope,
      ownerId: directory.user(ownerId)._id,
      state: 'active',
      actions: [],
    };
  }

  /**
   * Each action has its own secret (spec, "Webhook deliveries").
   * @param old keeps its id, and its secret unless a new one is given
   */
  #action({ url, signed = true, secret, payload }: ActionInput, old?: Action): Action {
    const { random, secrets } = this.#simulation;
    this.#checkTarget(url);
    const _id = old?._id ?? random.id('action', this.#created++);
    if (!signed) secrets.forget(_id);
    else if (secret !== undefined || !secrets.get(_id)) secrets.issue(_id, secret);
    const { href } = new URL(url);
    return { _id, type: 'webhook', url: href, signed, ...(payload !== undefined && { payload }) };
  }

  #checkTarget(url: string): void {
    const { host, hostname } = new URL(url);
    if (this.#simulation.settings.allowExternal || isLoopback(hostname)) return;
    throw new SimulatorError(
      'external-target',
      `${host} is not this machine. To send deliveries there, set allowExternal (on the command line: simulate --allow-external).`,
    );
  }
}
