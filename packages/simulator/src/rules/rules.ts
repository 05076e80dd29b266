import type { Directory } from '../activity/directory.ts';
import type { Journal } from '../journal.ts';
import type { Draws } from '../seed/draws.ts';
import { SimulatorError } from '../simulator-error.ts';
import { without } from '../without.ts';
import { checkSecret } from './check-secret.ts';
import type { Action, ActionInput, EventName, PauseReason, Rule, RuleInput } from './rule.ts';
import type { Secrets } from './secrets.ts';
import { checkTargetUrl } from './target-url.ts';

interface Parts {
  readonly draws: Draws;
  readonly journal: Journal;
  readonly secrets: Secrets;
  readonly directory: Directory;
  readonly allowExternal: boolean;
  now(): number;
}

interface Hooks {
  onPaused(rule: Rule): void;
  onResumed(rule: Rule): void;
}

/** The rules of the service, and its call recording webhook. */
export class Rules {
  readonly #parts: Parts;
  readonly #rules = new Map<string, Rule>();
  readonly #hooks: Hooks;
  #made = 0;

  constructor(parts: Parts, hooks: Hooks) {
    this.#parts = parts;
    this.#hooks = hooks;
  }

  /** All rules, and the recording webhook where there is one, in the order they were made. */
  list(): Rule[] {
    return [...this.#rules.values()];
  }

  /** @throws SimulatorError `not-found` */
  get(ruleId: string): Rule {
    const rule = this.#rules.get(ruleId);
    if (!rule) throw new SimulatorError('not-found', 'There is no rule with this id.');
    return rule;
  }

  /** @throws SimulatorError `invalid-input`, `external-target` */
  create(input: RuleInput): Rule {
    const { trigger } = input as { trigger: unknown };
    if (trigger !== 'call:started' && trigger !== 'call:completed')
      throw new SimulatorError(
        'invalid-input',
        'The trigger of a rule is "call:started" or "call:completed". Recordings have a webhook of their own.',
      );
    for (const action of input.actions ?? []) this.#check(action);
    const rule = this.#newRule(input, trigger);
    const actions = (input.actions ?? []).map((action) => this.#newAction(action));
    return this.#put({ ...rule, actions });
  }

  /**
   * Sets where recordings are announced: the separate webhook with its own secret.
   * A second call changes its URL, and its secret where one is given.
   * @throws SimulatorError `invalid-input`, `external-target`
   */
  setRecordingWebhook(input: Omit<ActionInput, 'payload'>): Rule {
    const old = this.list().find((rule) => rule.kind === 'recording-webhook');
    const { url, signed, secret } = input;
    const action = this.#newAction({ url, signed, secret }, old?.actions[0]);
    const name = 'Call recording webhook';
    const rule = old ?? this.#newRule({ name, scope: 'workspace' }, 'call:recording-available');
    return this.#put({ ...rule, actions: [action] });
  }

  /**
   * Sends all three events to one receiver: a rule for `call:started`, one for `call:completed`, and
   * the recording webhook. Each has a secret of its own, unless `secret` is given.
   * @throws SimulatorError `invalid-input`, `external-target`
   */
  forwardTo(url: string, options: { secret?: string | undefined } = {}): Rule[] {
    const action = { url, ...options };
    return [
      this.create({ trigger: 'call:started', actions: [action] }),
      this.create({ trigger: 'call:completed', actions: [action] }),
      this.setRecordingWebhook(action),
    ];
  }

  /**
   * Adds a webhook action to a rule; the recording webhook has but one.
   * @throws SimulatorError `not-found`, `conflict`, `invalid-input`, `external-target`
   */
  addAction(ruleId: string, input: ActionInput): Action {
    const rule = this.get(ruleId);
    if (rule.kind === 'recording-webhook')
      throw new SimulatorError(
        'conflict',
        'The recording webhook has one URL. Set it anew instead.',
      );
    const action = this.#newAction(input);
    this.#put({ ...rule, actions: [...rule.actions, action] });
    return action;
  }

  /** An action of a rule. @throws SimulatorError `not-found` */
  action(ruleId: string, actionId: string): Action {
    const action = this.get(ruleId).actions.find(({ _id }) => _id === actionId);
    if (!action) throw new SimulatorError('not-found', 'The rule has no action with this id.');
    return action;
  }

  /** Pauses a rule. One that is paused already stays as it is. @throws SimulatorError `not-found` */
  pause(ruleId: string, because: PauseReason = 'by-hand'): Rule {
    const rule = this.get(ruleId);
    if (rule.state === 'paused') return rule;
    const pausedAt = this.#parts.now();
    const paused = this.#put({ ...rule, state: 'paused', pausedBecause: because, pausedAt });
    this.#hooks.onPaused(paused);
    return paused;
  }

  /** Resumes a paused rule. How the service does it is not shown. @throws SimulatorError `not-found` */
  resume(ruleId: string): Rule {
    const rule = without(this.get(ruleId), 'pausedBecause', 'pausedAt');
    if (rule.state === 'active') return rule;
    const resumed = this.#put({ ...rule, state: 'active' });
    this.#hooks.onResumed(resumed);
    return resumed;
  }

  /** @internal */
  get made(): number {
    return this.#made;
  }

  /** @internal @throws SimulatorError `external-target` when a rule may not send there any more */
  restore(rules: readonly Rule[], made: number): void {
    for (const { url } of rules.flatMap(({ actions }) => actions))
      checkTargetUrl(url, this.#parts.allowExternal);
    this.#rules.clear();
    for (const rule of rules) this.#rules.set(rule._id, rule);
    this.#made = made;
  }

  #newRule(input: Omit<RuleInput, 'trigger'>, trigger: EventName): Rule {
    const { scope = 'user' } = input as { scope?: unknown };
    if (scope !== 'user' && scope !== 'workspace')
      throw new SimulatorError('invalid-input', 'The scope of a rule is "user" or "workspace".');
    return {
      _id: this.#parts.draws.id('rule', this.#made++),
      kind: trigger === 'call:recording-available' ? 'recording-webhook' : 'rule',
      name: input.name ?? (trigger === 'call:started' ? 'I start a call' : 'I finish a call'),
      trigger,
      scope,
      ownerId: this.#parts.directory.user(input.ownerId)._id,
      state: 'active',
      actions: [],
    };
  }

  #check(input: ActionInput): string {
    if (input.secret !== undefined) checkSecret(input.secret);
    return checkTargetUrl(input.url, this.#parts.allowExternal);
  }

  #newAction(input: ActionInput, old?: Action): Action {
    const { draws, secrets } = this.#parts;
    const url = this.#check(input);
    const signed = input.signed ?? true;
    const _id = old?._id ?? draws.id('action', this.#made++);
    if (!signed) secrets.forget(_id);
    else if (input.secret !== undefined || !secrets.get(_id)) secrets.issue(_id, input.secret);
    const { payload } = input;
    return { _id, type: 'webhook', url, signed, ...(payload !== undefined && { payload }) };
  }

  #put(rule: Rule): Rule {
    this.#rules.set(rule._id, rule);
    this.#parts.journal.record('rule', rule._id);
    return rule;
  }
}
