import { serveLocally } from '@call-webhooks/contract-tests';
import { verify } from '@octokit/webhooks-methods';
import express, { type Request } from 'express';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { gradedReceiver, SECRETS, type GradedReceiver } from './graded-receiver.ts';

const [SECRET] = SECRETS;

/** Express as in the guides of the libraries: verify, run the handler, respond. */
const withVerifier = (verified: (request: Request) => object | Promise<object>) => () =>
  gradedReceiver((handle) => {
    const app = express();
    app.post('/hook', express.raw({ type: 'application/json' }), async (request, response) => {
      let event: object;
      try {
        event = await verified(request);
      } catch {
        response.sendStatus(400);
        return;
      }
      await handle(event);
      response.sendStatus(200);
    });
    app.use(((_error, _request, response, _next) => {
      response.sendStatus(500);
    }) satisfies express.ErrorRequestHandler);
    return serveLocally(app);
  });

const header = (request: Request, name: string) => request.get(`X-Service-${name}`) ?? '';

/** Under the names that Standard Webhooks has for the three headers. */
const standardHeaders = (request: Request) => ({
  'webhook-id': header(request, 'Webhook-Id'),
  'webhook-timestamp': header(request, 'Timestamp'),
  'webhook-signature': header(request, 'Signature'),
});

/** Libraries that verify webhooks, given what they need to verify ours. */
export const PEERS: Readonly<Record<string, () => Promise<GradedReceiver>>> = {
  standardwebhooks: withVerifier(
    (request) =>
      new StandardWebhook(SECRET).verify(
        request.body as Buffer,
        standardHeaders(request),
      ) as object,
  ),
  svix: withVerifier(
    (request) =>
      new SvixWebhook(SECRET).verify(request.body as Buffer, standardHeaders(request)) as object,
  ),
  // It signs the body alone, in hexadecimal: the signed string is given to it as the body.
  '@octokit/webhooks-methods': withVerifier(async (request) => {
    const body = (request.body as Buffer).toString();
    const signed = `${header(request, 'Webhook-Id')}.${header(request, 'Timestamp')}.${body}`;
    const signature = header(request, 'Signature').replace(/^v1,/, '');
    const key = Buffer.from(SECRET.slice(6), 'base64').toString();
    const hex = Buffer.from(signature, 'base64').toString('hex');
    if (!(await verify(key, signed, `sha256=${hex}`))) throw new Error('not authentic');
    return JSON.parse(body) as object;
  }),
};
