import type { Directory } from '../activity/directory.ts';
import type { ChangeEmitter } from '../change-emitter.ts';
import { omit } from '../omit.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { SimulatorError } from '../simulator-error.ts';
import { checkName, checkScope, checkTargetUrl, checkTrigger } from './check-rule.ts';
import type {
  Action,
  ActionChanges,
  ActionInput,
  PauseReason,
  Rule,
  RuleChanges,
  RuleInput,
} from './rule.ts';
import { RuleFactory } from './rule-factory.ts';
import { RuleRecords } from './rule-records.ts';
import type { Secrets } from './secrets.ts';

interface Deps {
  readonly random: SeededRandom;
  readonly changes: ChangeEmitter;
  readonly secrets: Secrets;
  readonly directory: Directory;
  readonly allowExternal: boolean;
  readonly now: () => number;
  readonly onPaused: (rule: Rule) => void;
  readonly onResumed: (rule: Rule) => void;
  /** Actions of the rule, or the rule as a whole, no longer exist. */
  readonly onActionsRemoved: (ruleId: string) => void;
}

/** The rules of the service, and its call recording webhook. */
export class Rules extends RuleRecords {
  readonly #deps: Deps;
  readonly #factory: RuleFactory;

  constructor(deps: Deps) {
    super(deps.changes);
    this.#deps = deps;
    this.#factory = new RuleFactory(deps);
  }

  /** @throws SimulatorError `invalid-input`, `external-target`, or `not-found` for an unknown owner */
  create(input: RuleInput): Rule {
    const trigger = checkTrigger(input.trigger);
    for (const action of input.actions ?? []) this.#factory.check(action);
    const rule = this.#factory.rule(input, trigger);
    const actions = (input.actions ?? []).map((action) => this.#factory.action(action));
    return this.put({ ...rule, actions });
  }

  /**
   * Changes a rule. The recording webhook keeps its trigger and its scope.
   * @guess How rules and actions are edited and removed
   * @throws SimulatorError `not-found`, `invalid-input`, `conflict`
   */
  update(ruleId: string, changes: RuleChanges): Rule {
    const rule = this.get(ruleId);
    if (rule.kind === 'recording-webhook' && (changes.trigger ?? changes.scope) !== undefined)
      throw new SimulatorError('conflict', 'The recording webhook has no trigger and no scope.');
    const { ownerId } = changes;
    return this.put({
      ...rule,
      name: checkName(changes.name ?? rule.name),
      trigger: changes.trigger === undefined ? rule.trigger : checkTrigger(changes.trigger),
      scope: changes.scope === undefined ? rule.scope : checkScope(changes.scope),
      ownerId: ownerId === undefined ? rule.ownerId : this.#deps.directory.user(ownerId)._id,
    });
  }

  /**
   * Removes a rule, or the recording webhook, with its actions and secrets. Its waiting deliveries
   * are dropped.
   * @throws SimulatorError `not-found`
   */
  remove(ruleId: string): void {
    const { actions } = this.get(ruleId);
    for (const { _id } of actions) this.#deps.secrets.forget(_id);
    this.delete(ruleId);
    this.#deps.onActionsRemoved(ruleId);
  }

  /**
   * Sets the separate webhook for recordings. A second call changes its URL, and its secret if one
   * is given.
   * @throws SimulatorError `invalid-input`, `external-target`
   */
  setRecordingWebhook(input: Omit<ActionInput, 'payload'>): Rule {
    const old = this.list().find((rule) => rule.kind === 'recording-webhook');
    const { url, signed, secret } = input;
    const action = this.#factory.action({ url, signed, secret }, old?.actions[0]);
    const name = 'Call recording webhook';
    const rule =
      old ?? this.#factory.rule({ name, scope: 'workspace' }, 'call:recording-available');
    return this.put({ ...rule, actions: [action] });
  }

  /**
   * Sends all three events of all calls to one receiver: two workspace rules and the recording
   * webhook. Each has its own secret unless `secret` is given.
   * @throws SimulatorError `invalid-input`, `external-target`
   */
  forwardTo(url: string, options: { secret?: string | undefined } = {}): Rule[] {
    const action = { url, ...options };
    return [
      this.create({ trigger: 'call:started', scope: 'workspace', actions: [action] }),
      this.create({ trigger: 'call:completed', scope: 'workspace', actions: [action] }),
      this.setRecordingWebhook(action),
    ];
  }

  /**
   * Adds a webhook action to a rule.
   * @throws SimulatorError `not-found`, `invalid-input`, `external-target`, or `conflict` for the
   *   recording webhook, which has a single URL
   */
  addAction(ruleId: string, input: ActionInput): Action {
    const rule = this.get(ruleId);
    if (rule.kind === 'recording-webhook')
      throw new SimulatorError('conflict', 'The recording webhook has one URL. Change it instead.');
    const action = this.#factory.action(input);
    this.put({ ...rule, actions: [...rule.actions, action] });
    return action;
  }

  /**
   * Changes an action. Retries of earlier events go to the new URL, with the payload they had.
   * `signed: true` gives an unsigned action a secret.
   * @throws SimulatorError `not-found`, `invalid-input`, `external-target`
   */
  updateAction(ruleId: string, actionId: string, changes: ActionChanges): Action {
    const rule = this.get(ruleId);
    const old = this.action(ruleId, actionId);
    if (rule.kind === 'recording-webhook' && changes.payload !== undefined)
      throw new SimulatorError('conflict', 'The recording webhook has no custom payload.');
    const { url = old.url, signed = old.signed, secret } = changes;
    const payload = changes.payload === undefined ? old.payload : (changes.payload ?? undefined);
    const action = this.#factory.action({ url, signed, secret, payload }, old);
    const actions = rule.actions.map((one) => (one._id === actionId ? action : one));
    this.put({ ...rule, actions });
    return action;
  }

  /**
   * Removes an action and its secret. Its waiting deliveries are dropped.
   * @throws SimulatorError `not-found`, or `conflict` for the recording webhook: remove that instead
   */
  removeAction(ruleId: string, actionId: string): void {
    const rule = this.get(ruleId);
    this.action(ruleId, actionId);
    if (rule.kind === 'recording-webhook')
      throw new SimulatorError('conflict', 'Remove the recording webhook instead of its action.');
    this.#deps.secrets.forget(actionId);
    this.put({ ...rule, actions: rule.actions.filter(({ _id }) => _id !== actionId) });
    this.#deps.onActionsRemoved(ruleId);
  }

  /** Pauses a rule. A paused rule stays as it is. @throws SimulatorError `not-found` */
  pause(ruleId: string, reason: PauseReason = 'by-hand'): Rule {
    const rule = this.get(ruleId);
    if (rule.state === 'paused') return rule;
    const pausedAt = this.#deps.now();
    const paused = this.put({ ...rule, state: 'paused', pauseReason: reason, pausedAt });
    this.#deps.onPaused(paused);
    return paused;
  }

  /** Resumes a paused rule. @throws SimulatorError `not-found` */
  resume(ruleId: string): Rule {
    const rule = omit(this.get(ruleId), 'pauseReason', 'pausedAt');
    if (rule.state === 'active') return rule;
    const resumed = this.put({ ...rule, state: 'active' });
    this.#deps.onResumed(resumed);
    return resumed;
  }

  /** @internal */
  get created(): number {
    return this.#factory.created;
  }

  /** @internal @throws SimulatorError `external-target` for a URL that is no longer allowed */
  restore(rules: readonly Rule[], created: number): void {
    for (const { url } of rules.flatMap(({ actions }) => actions))
      checkTargetUrl(url, this.#deps.allowExternal);
    this.replaceAll(rules);
    this.#factory.created = created;
  }
}
