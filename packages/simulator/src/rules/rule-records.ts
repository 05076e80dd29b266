import type { ChangeEmitter } from '../change-emitter.ts';
import { SimulatorError } from '../simulator-error.ts';
import type { Action, Rule } from './rule.ts';

/** The records of rules, by id. They are immutable: a change replaces the record. */
export class RuleRecords {
  readonly #changes: ChangeEmitter;
  readonly #rules = new Map<string, Rule>();

  constructor(changes: ChangeEmitter) {
    this.#changes = changes;
  }

  /** All rules, and the recording webhook if it is set, in the order of creation. */
  list(): Rule[] {
    return [...this.#rules.values()];
  }

  /** @internal */
  find(ruleId: string): Rule | undefined {
    return this.#rules.get(ruleId);
  }

  /** @throws SimulatorError `not-found` */
  get(ruleId: string): Rule {
    const rule = this.#rules.get(ruleId);
    if (!rule) throw new SimulatorError('not-found', 'No rule has this id.');
    return rule;
  }

  /** An action of a rule. @throws SimulatorError `not-found` */
  action(ruleId: string, actionId: string): Action {
    const action = this.get(ruleId).actions.find(({ _id }) => _id === actionId);
    if (!action) throw new SimulatorError('not-found', 'The rule has no action with this id.');
    return action;
  }

  /** @internal */
  protected put(rule: Rule): Rule {
    this.#rules.set(rule._id, rule);
    this.#changes.emit('rule', rule._id);
    return rule;
  }

  /** @internal */
  protected delete(ruleId: string): void {
    this.#rules.delete(ruleId);
    this.#changes.emit('rule', ruleId);
  }

  /** @internal */
  protected replaceAll(rules: readonly Rule[]): void {
    this.#rules.clear();
    for (const rule of rules) this.#rules.set(rule._id, rule);
  }
}
