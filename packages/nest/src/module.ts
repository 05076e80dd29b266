import { ConfigurableModuleBuilder, Module } from '@nestjs/common';
import {
  ApplicationConfig,
  DiscoveryModule,
  DiscoveryService,
  HttpAdapterHost,
  ModuleRef,
} from '@nestjs/core';
import { CallWebhooks } from './call-webhooks.ts';
import type { CallWebhooksModuleOptions } from './options.ts';

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } =
  new ConfigurableModuleBuilder<CallWebhooksModuleOptions>({ moduleName: 'CallWebhooks' })
    .setClassMethodName('forRoot')
    .setFactoryMethodName('createCallWebhooksOptions')
    .build();

/**
 * Receives call webhooks at one path, and passes them to the methods with `@OnCallEvent` of all
 * providers. It closes with the app.
 *
 * The app does not start if an option is invalid or if two methods handle the same event: `app.init()`
 * and `app.listen()` throw a `WebhookError` with the code `invalid-options` or `invalid-secret`.
 * @example
 * \@Module({
 *   imports: [CallWebhooksModule.forRoot({ path: '/hook', secret: process.env.CALL_WEBHOOK_SECRET })],
 *   providers: [CrmHandlers],
 * })
 * class AppModule {}
 */
export class CallWebhooksModule extends ConfigurableModuleClass {}

// Called instead of written as decorators: those of TypeScript need an option of the compiler.
Module({
  imports: [DiscoveryModule],
  providers: [
    {
      provide: CallWebhooks,
      inject: [
        MODULE_OPTIONS_TOKEN,
        DiscoveryService,
        ModuleRef,
        HttpAdapterHost,
        ApplicationConfig,
      ],
      useFactory: (
        options: CallWebhooksModuleOptions,
        discovery: DiscoveryService,
        moduleRef: ModuleRef,
        adapterHost: HttpAdapterHost,
        config: ApplicationConfig,
      ) => new CallWebhooks(options, { discovery, moduleRef, adapterHost, config }),
    },
  ],
  exports: [CallWebhooks],
})(CallWebhooksModule);
