import { Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import type { ApplicationConfig, DiscoveryService, HttpAdapterHost, ModuleRef } from '@nestjs/core';
import { createReceiver, WebhookError, type Receiver } from '@call-webhooks/core';
import { withoutOptions } from '@call-webhooks/core/internal';
import { nodeHandler, type NodeHandler } from '@call-webhooks/core/node';
import { findHandlers, type FoundHandlers } from './find-handlers.ts';
import { mount } from './mount.ts';
import { nestLogger } from './nest-logger.ts';
import type { CallWebhooksModuleOptions } from './options.ts';

const FIX =
  'Something read the body before Nest did, such as a parser of an Express app that you passed to ExpressAdapter. Add the parser after NestFactory.create.';

/** What Nest injects into the provider. */
export interface NestParts {
  readonly discovery: DiscoveryService;
  readonly moduleRef: ModuleRef;
  readonly adapterHost: HttpAdapterHost;
  readonly config: ApplicationConfig;
}

/** The receiver of `CallWebhooksModule`. Inject it where you need the receiver or its handlers. */
export class CallWebhooks implements OnModuleInit, OnModuleDestroy {
  readonly #options: CallWebhooksModuleOptions;
  readonly #parts: NestParts;
  #started: { handler: NodeHandler; handlers: FoundHandlers; path: string } | undefined;
  #mountError: Error | undefined;

  /** @internal */
  constructor(options: CallWebhooksModuleOptions, parts: NestParts) {
    checkOptions(options);
    this.#options = options;
    this.#parts = parts;
    const { adapterHost } = parts;
    if (hasAdapter(adapterHost)) this.#mount();
    // `createNestApplication()` of @nestjs/testing sets the adapter once all providers exist.
    else adapterHost.init$.subscribe(() => this.#mountLate());
  }

  /**
   * The receiver, for `health()`, for `deliver()`, and for `@call-webhooks/recovery`.
   * @throws WebhookError `invalid-options` before the app is initialized
   */
  get receiver(): Receiver {
    return this.#running().handler.receiver;
  }

  /**
   * The methods with `@OnCallEvent` and the schemas of extra events, to pass to a queue worker.
   * @throws WebhookError `invalid-options` before the app is initialized
   * @example
   * const { on, events } = app.get(CallWebhooks).handlers;
   */
  get handlers(): FoundHandlers {
    return this.#running().handlers;
  }

  /** @internal */
  onModuleInit(): void {
    if (this.#mountError) throw this.#mountError;
    const { path, useGlobalPrefix } = this.#options;
    const options = withoutOptions(this.#options, 'path', 'useGlobalPrefix', 'graceMs');
    const { discovery, moduleRef, config } = this.#parts;
    const handlers = findHandlers(discovery, moduleRef);
    const given = Object.keys(handlers.on).length > 0 ? handlers : {};
    const receiver = createReceiver({ logger: nestLogger(), ...options, ...given });
    const prefix = useGlobalPrefix === true ? `/${config.getGlobalPrefix()}` : '';
    const whole = pathOf(`${prefix}/${path}`);
    this.#started = { handler: nodeHandler(receiver, FIX), handlers, path: whole };
    const names = Object.keys(handlers.on).join(', ') || 'no events';
    const logger = new Logger('CallWebhooks');
    logger.log(`Mapped {${whole}, ALL}: ${names}`);
    if (names === 'no events' && !options.onUnhandled && !options.custom)
      logger.warn(
        'No method with @OnCallEvent was found, so every event is ignored. List the class of your handlers among the providers of a module.',
      );
  }

  /** @internal */
  async onModuleDestroy(): Promise<void> {
    const { graceMs } = this.#options;
    await this.#started?.handler.receiver.close(graceMs === undefined ? {} : { graceMs });
  }

  #mount(): void {
    mount(this.#parts.adapterHost.httpAdapter, {
      matches: (url = '/') => pathOf(url) === this.#started?.path,
      handle: (request, response) => this.#started?.handler(request, response),
    });
  }

  /** An error that is thrown here could not be caught, so `app.init()` throws it. */
  #mountLate(): void {
    if (!hasAdapter(this.#parts.adapterHost)) return;
    try {
      this.#mount();
    } catch (error) {
      this.#mountError = error as Error;
    }
  }

  #running() {
    if (this.#started) return this.#started;
    throw new WebhookError(
      'invalid-options',
      'The receiver exists once the app is initialized: use it in onApplicationBootstrap or later, not in a constructor.',
    );
  }
}

/** A standalone application, such as a worker, has no server. */
const hasAdapter = ({ httpAdapter }: Partial<HttpAdapterHost>) => Boolean(httpAdapter);

/** The path of a URL, without a trailing slash. */
const pathOf = (url: string) =>
  (url.split('?', 1)[0] ?? '').replace(/\/{2,}/g, '/').replace(/(.)\/$/, '$1');

function checkOptions(options: CallWebhooksModuleOptions): void {
  if (typeof (options as Partial<typeof options> | undefined)?.path !== 'string')
    throw new WebhookError('invalid-options', "CallWebhooksModule needs a path, such as '/hook'.");
  if ('on' in options || 'events' in options)
    throw new WebhookError(
      'invalid-options',
      'CallWebhooksModule does not take the options `on` and `events`. Instead, decorate a method of a provider with @OnCallEvent, whose second argument is the schema of an extra event.',
    );
}
