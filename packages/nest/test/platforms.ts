import { NestFactory } from '@nestjs/core';
import type { DynamicModule, INestApplication, Type } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';

/** The two platforms of Nest. */
export const PLATFORMS = [
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
] as const;

export type Platform = (typeof PLATFORMS)[number][1];

/** Creates an app that writes nothing; its errors are thrown. */
export const createApp = (
  module: Type | DynamicModule,
  platform: Platform,
): Promise<INestApplication> =>
  NestFactory.create(module, platform(), { logger: false, abortOnError: false });
