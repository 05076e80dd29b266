import type { Rule } from '@call-webhooks/simulator';
import type { Command } from 'commander';
import { formatSecretFile, type SecretOptions, secretsByOwner } from '../input/secrets.ts';
import type { Io } from '../io.ts';

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

/** Flags of commands that create actions. */
interface ActionSecretOptions extends SecretOptions {
  readonly sharedSecret?: boolean | undefined;
}

/** Adds `--shared-secret`. */
export const withSharedSecretOption = (command: Command): Command =>
  command.option('--shared-secret', 'sign all actions with one secret, unlike the service');

/**
 * The given secrets, one for each action that is created: those of the call actions in their order, and
 * that of the recording webhook, or else the next one.
 * @returns the secret of the next action for an event; `undefined` where none is left, or given
 */
export async function secretsForActions(
  io: Io,
  options: ActionSecretOptions,
): Promise<(event: Rule['trigger']) => string | undefined> {
  const { calls, recording } = await secretsByOwner(io, options);
  if (options.sharedSecret) return () => calls[0] ?? recording[0];
  const left = { calls: [...calls], recording: [...recording] };
  return (event) =>
    (event === 'call:recording-available' ? left.recording.shift() : undefined) ??
    left.calls.shift();
}
