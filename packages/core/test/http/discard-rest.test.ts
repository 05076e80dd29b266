import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { discardRest } from '../../src/node.ts';

describe('discardRest', () => {
  afterEach(() => void jest.useRealTimers());

  it('cuts off a client that goes on sending, 2 s after the response', async () => {
    jest.useFakeTimers();
    const message = new IncomingMessage(new Socket());
    discardRest(message);
    await jest.advanceTimersByTimeAsync(1_999);
    expect(message.destroyed).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(message.destroyed).toBe(true);
  });

  it('stops its timer when the connection closes', () => {
    jest.useFakeTimers();
    const message = new IncomingMessage(new Socket());
    discardRest(message);
    message.emit('close');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('leaves a request alone that has arrived', async () => {
    jest.useFakeTimers();
    const message = new IncomingMessage(new Socket());
    message.complete = true;
    discardRest(message);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(message.destroyed).toBe(false);
  });
});
