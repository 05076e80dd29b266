import type { Directory } from '../activity/directory.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { checkScope, checkTargetUrl, defaultName } from './check-rule.ts';
import type { Action, ActionInput, EventName, Rule, RuleInput } from './rule.ts';
import { checkSecret, type Secrets } from './secrets.ts';

interface Deps {
  readonly random: SeededRandom;
  readonly secrets: Secrets;
  readonly directory: Directory;
  readonly allowExternal: boolean;
}

/** Builds the records of rules and actions, and issues the secrets of actions. */
export class RuleFactory {
  /** How many rules and actions were ever created: their ids derive from it. */
  created = 0;
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** @throws SimulatorError `invalid-input`, or `not-found` for an unknown owner */
  rule(input: Omit<RuleInput, 'trigger'>, trigger: EventName): Rule {
    const scope = checkScope(input.scope ?? 'user');
    return {
      _id: this.#deps.random.id('rule', this.created++),
      kind: trigger === 'call:recording-available' ? 'recording-webhook' : 'rule',
      name: input.name ?? defaultName(trigger, scope),
      trigger,
      scope,
      ownerId: this.#deps.directory.user(input.ownerId)._id,
      state: 'active',
      actions: [],
    };
  }

  /**
   * Each action has its own secret (spec, "Webhook deliveries").
   * @param old keeps its id, and its secret unless a new one is given
   * @throws SimulatorError `invalid-input`, `external-target`
   */
  action(input: ActionInput, old?: Action): Action {
    const { random, secrets } = this.#deps;
    const url = this.check(input);
    const { signed = true, secret, payload } = input;
    const _id = old?._id ?? random.id('action', this.created++);
    if (!signed) secrets.forget(_id);
    else if (secret !== undefined || !secrets.get(_id)) secrets.issue(_id, secret);
    return { _id, type: 'webhook', url, signed, ...(payload !== undefined && { payload }) };
  }

  /** @returns the normalized URL @throws SimulatorError `invalid-input`, `external-target` */
  check({ url, secret }: ActionInput): string {
    if (secret !== undefined) checkSecret(secret);
    return checkTargetUrl(url, this.#deps.allowExternal);
  }
}
