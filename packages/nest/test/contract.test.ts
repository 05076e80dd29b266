import type { IncomingMessage, ServerResponse } from 'node:http';
import { adapterContractTests } from '@call-webhooks/contract-tests';
import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import { CallWebhooks, ready } from '../src/index.ts';
import { moduleWith } from './module-with.ts';
import { createApp, PLATFORMS } from './platforms.ts';

/** As the README has it. */
@Controller('ready')
class ReadyController {
  readonly respond: ReturnType<typeof ready>;
  constructor(@Inject(CallWebhooks) webhooks: CallWebhooks) {
    this.respond = ready(webhooks);
  }

  @Get()
  get(@Req() request: IncomingMessage, @Res() response: ServerResponse) {
    return this.respond(request, response);
  }
}

for (const [name, platform] of PLATFORMS) {
  adapterContractTests({
    name: `Nest on ${name}`,
    async mount(options, graceMs) {
      const module = { ...moduleWith(options, { graceMs }), controllers: [ReadyController] };
      const app = await createApp(module, platform);
      await app.listen(0, '127.0.0.1');
      const { receiver } = app.get(CallWebhooks);
      const origin = await app.getUrl();
      const [url, readyUrl] = [`${origin}/hook`, `${origin}/ready`];
      return { url, readyUrl, receiver, close: () => app.close(), closesReceiver: true };
    },
  });
}
