import type { Rule, SecretsView } from '@call-webhooks/simulator';
import { type SecretOptions, secretsByOwner } from '../input/secrets.ts';
import type { Io } from '../io.ts';

export type { SecretsView };

/** An action of a rule, and the secret that signs its deliveries. */
export interface SigningAction {
  readonly ruleId: string;
  readonly rule: string;
  readonly trigger: Rule['trigger'];
  readonly actionId: string;
  readonly url: string;
  readonly secret: string | null;
}

/** All actions of these rules, each with its secret. */
export const signingActions = (rules: readonly Rule[], secrets: SecretsView): SigningAction[] =>
  rules.flatMap(({ _id: ruleId, name: rule, trigger, actions }) =>
    actions.map(({ _id: actionId, url }) => {
      const { current: secret = null } = secrets[actionId] ?? {};
      return { ruleId, rule, trigger, actionId, url, secret };
    }),
  );

/** The secret of the next action for an event; `undefined` where it is generated. */
export type SecretFor = (event: Rule['trigger']) => string | undefined;

/**
 * The given secrets, one for each action that is created: those of the call actions in their order, and
 * that of the recording webhook, or else the next one.
 */
export async function secretsForActions(io: Io, options: SecretOptions): Promise<SecretFor> {
  const { calls, recording } = await secretsByOwner(io, options);
  const left = { calls: [...calls], recording: [...recording] };
  return (event) =>
    (event === 'call:recording-available' ? left.recording.shift() : undefined) ??
    left.calls.shift();
}
