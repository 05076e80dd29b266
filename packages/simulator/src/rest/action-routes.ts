import type { FastifyInstance } from 'fastify';
import type { Action, ActionInput } from '../rules/rule.ts';
import { SimulatorError } from '../simulator-error.ts';
import type { Simulation } from '../simulation.ts';

/**
 * `POST /v1/rules/{id}/actions` creates a webhook action, `PATCH …/{actionId}` rotates its secret.
 * Both answer with the action and its secret; the bodies, but for `rotateSigningSecret`, are ours.
 */
export function actionRoutes(app: FastifyInstance, { rules, secrets }: Simulation): void {
  const withSecret = (action: Action) => ({
    ...action,
    signingSecret: secrets.get(action._id)?.current,
  });

  /** The recording webhook is no rule to the REST side: it is set up in the administration area. */
  function ruleId(id: string): string {
    if (rules.get(id).kind === 'rule') return id;
    throw new SimulatorError('not-found', 'There is no rule with this id.');
  }

  app.post<{ Params: { id: string }; Body: unknown }>(
    '/rules/:id/actions',
    ({ params, body }, reply) => {
      const { type = 'webhook', url, payload } = fieldsOf(body);
      if (type !== 'webhook')
        throw new SimulatorError('invalid-input', 'The type of an action is "webhook".');
      const action = rules.addAction(ruleId(params.id), { url, payload } as ActionInput);
      return reply.code(201).send(withSecret(action));
    },
  );

  app.patch<{ Params: { id: string; actionId: string }; Body: unknown }>(
    '/rules/:id/actions/:actionId',
    ({ params, body }) => {
      if (fieldsOf(body)['rotateSigningSecret'] !== true)
        throw new SimulatorError('invalid-input', 'Send { "rotateSigningSecret": true }.');
      const action = rules.action(ruleId(params.id), params.actionId);
      secrets.rotate(action._id);
      return withSecret(action);
    },
  );
}

function fieldsOf(body: unknown): Record<string, unknown> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body))
    return body as Record<string, unknown>;
  throw new SimulatorError('invalid-input', 'The body is to be a JSON object.');
}
