import type { FastifyInstance } from 'fastify';
import type { Action, ActionInput, RuleChanges } from '../rules/rule.ts';
import { SimulatorError } from '../simulator-error.ts';
import type { Simulation } from '../simulation.ts';

type OneRule = { Params: { id: string }; Body: unknown };
type OneAction = { Params: { id: string; actionId: string }; Body: unknown };

/**
 * `POST /v1/rules/{id}/actions` creates a webhook action, and `PATCH …/{actionId}` with
 * `rotateSigningSecret` rotates its secret. Both respond with the action and its secret. The spec
 * shows no other fields, and no way to edit or remove rules and actions.
 * @guess `GET /v1/calls`, rule actions, errors, paging and rate limits
 */
export function ruleRoutes(app: FastifyInstance, { rules, secrets }: Simulation): void {
  const withSecret = (action: Action) => ({
    ...action,
    signingSecret: secrets.get(action._id)?.current,
  });

  /**
   * The recording webhook is not a rule of the REST API: it belongs to the administration area.
   * @guess How the secret of the recording webhook is rotated
   */
  function ruleId({ id }: { id: string }): string {
    if (rules.get(id).kind === 'rule') return id;
    throw new SimulatorError('not-found', 'No rule has this id.');
  }

  app.patch<OneRule>('/rules/:id', ({ params, body }) => {
    const { name, trigger, scope, ownerId } = parseObject(body);
    const changes = { name, trigger, scope, ownerId };
    if (Object.values(changes).every((value) => value === undefined))
      throw new SimulatorError('invalid-input', 'Send name, trigger, scope or ownerId.');
    return rules.update(ruleId(params), changes as RuleChanges);
  });
  app.delete<OneRule>('/rules/:id', ({ params }, reply) => {
    rules.remove(ruleId(params));
    return reply.code(204).send();
  });

  app.post<OneRule>('/rules/:id/actions', ({ params, body }, reply) => {
    const { type = 'webhook', url, payload } = parseObject(body);
    if (type !== 'webhook')
      throw new SimulatorError('invalid-input', 'The type of an action must be "webhook".');
    const action = rules.addAction(ruleId(params), { url, payload } as ActionInput);
    return reply.code(201).send(withSecret(action));
  });
  app.patch<OneAction>('/rules/:id/actions/:actionId', ({ params, body }) => {
    const { url, payload, rotateSigningSecret } = parseObject(body);
    const edits = url !== undefined || payload !== undefined;
    if (rotateSigningSecret !== true && (rotateSigningSecret !== undefined || !edits))
      throw new SimulatorError(
        'invalid-input',
        'Send { "rotateSigningSecret": true }, or a new url or payload.',
      );
    const { _id } = rules.action(ruleId(params), params.actionId);
    if (edits) rules.updateAction(params.id, _id, { url, payload } as Partial<ActionInput>);
    if (rotateSigningSecret === true) secrets.rotate(_id);
    return withSecret(rules.action(params.id, _id));
  });
  app.delete<OneAction>('/rules/:id/actions/:actionId', ({ params }, reply) => {
    rules.removeAction(ruleId(params), params.actionId);
    return reply.code(204).send();
  });
}

function parseObject(body: unknown): Record<string, unknown> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body))
    return body as Record<string, unknown>;
  throw new SimulatorError('invalid-input', 'The body must be a JSON object.');
}
