import type { Rule } from '@call-webhooks/simulator';
import { formatSecretFile } from '../input/secret-file.ts';

/** The secrets of the simulator, by the id of their action; `null` for an action without one. */
export type SecretsView = Readonly<
  Record<string, { readonly current: string; readonly rotations: number } | null>
>;

/** An action of a rule, and the secret that signs its deliveries. */
export interface SigningAction {
  readonly ruleId: string;
  readonly rule: string;
  readonly trigger: Rule['trigger'];
  readonly actionId: string;
  readonly url: string;
  readonly secret: string | null;
  readonly rotations: number;
}

/** All actions, each with its rule and its secret. */
export const signingActions = (rules: readonly Rule[], secrets: SecretsView): SigningAction[] =>
  rules.flatMap(({ _id: ruleId, name: rule, trigger, actions }) =>
    actions.map(({ _id: actionId, url }) => {
      const { current: secret = null, rotations = 0 } = secrets[actionId] ?? {};
      return { ruleId, rule, trigger, actionId, url, secret, rotations };
    }),
  );

/** A secret file of all signed actions. */
export const secretFileOf = (actions: readonly SigningAction[]): string =>
  formatSecretFile(
    actions.flatMap(({ secret, actionId, trigger }) =>
      secret === null ? [] : [{ secret, actionId, note: `${trigger},` }],
    ),
  );
