import { jest } from '@jest/globals';
import { createClient, type Client } from '../../src/client.ts';
import type { ClientOptions } from '../../src/options.ts';
import { resolveSettings, type Settings } from '../../src/options.ts';
import { TestClock, TIMEOUT } from './clock.ts';

// Without jitter, every pause is known.
jest.spyOn(Math, 'random').mockReturnValue(0);

export const TOKEN = 'tok-3c1e/9f+7d==';

export function testOptions(baseUrl: string, options: Partial<ClientOptions> = {}): ClientOptions {
  return {
    baseUrl,
    apiToken: TOKEN,
    timeout: TIMEOUT,
    clock: new TestClock(),
    ...options,
  };
}

export function testClient(baseUrl: string, options: Partial<ClientOptions> = {}): Client {
  return createClient(testOptions(baseUrl, options));
}

export function testSettings(baseUrl: string, options: Partial<ClientOptions> = {}): Settings {
  return resolveSettings(testOptions(baseUrl, options));
}
