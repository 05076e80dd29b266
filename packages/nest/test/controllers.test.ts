import { afterEach, expect, it, jest } from '@jest/globals';
import { All, Controller, Module, Req, Res, type INestApplication } from '@nestjs/common';
import { generateSecret } from '@call-webhooks/core';
import { createNodeHandler } from '@call-webhooks/core/node';
import { callBody, collectingLogger, startSender } from '@call-webhooks/contract-tests';
import { createApp, PLATFORMS } from './platforms.ts';

const secret = generateSecret();
const handle = jest.fn();
const hook = createNodeHandler({
  secret,
  logger: collectingLogger(),
  on: { 'call:completed': handle },
});
const errors: Error[] = [];

@Controller('hook')
class HookController {
  @All()
  async receive(@Req() request: never, @Res() response: never) {
    try {
      await hook(request, response);
    } catch (error) {
      errors.push(error as Error);
      throw error;
    }
  }
}

@Module({ controllers: [HookController] })
class AppModule {}

let app: INestApplication | undefined;
afterEach(() => app?.close());

it('a controller that hands the objects of Fastify to the node handler: refused before anything runs', async () => {
  app = await createApp(AppModule, PLATFORMS[1][1]);
  await app.listen(0, '127.0.0.1');
  const sender = startSender(`${await app.getUrl()}/hook`, secret);
  expect((await sender.post(callBody('c1'))).status).toBe(500);
  expect((await sender.post(callBody('c1'))).status).toBe(500);
  expect(handle).not.toHaveBeenCalled();
  expect(errors[0]).toMatchObject({ code: 'invalid-options' });
  expect(errors[0]?.message).toContain('In Nest, use CallWebhooksModule of @call-webhooks/nest');
});
