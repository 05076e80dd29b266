import { expect, test } from '@jest/globals';
import { refusal } from '../../src/http/guard.ts';

const asked = {
  method: 'POST',
  host: '127.0.0.1:4010',
  origin: undefined,
  contentType: 'application/json',
};

test.each(['127.0.0.1:4010', 'localhost:4010', 'localhost', '[::1]:4010', 'sim.localhost:80'])(
  'requests to %s are heard',
  (host) => {
    expect(refusal({ ...asked, host })).toBeUndefined();
  },
);

test.each([
  undefined,
  '',
  'evil.example',
  'evil.example:4010',
  '127.0.0.1.evil.example',
  'localhost.evil.example',
  '127.0.0.1:4010@evil.example',
  '192.168.1.5:4010',
])('a page that was rebound to loopback shows in the host: %s', (host) => {
  expect(refusal({ ...asked, host })).toMatchObject({ status: 403 });
});

test('pages of other origins are refused', () => {
  const { host } = asked;
  for (const origin of ['http://evil.example', 'null', 'http://127.0.0.1:9999', `https://${host}`])
    expect(refusal({ ...asked, origin })).toMatchObject({ status: 403 });
  expect(refusal({ ...asked, origin: `http://${host}` })).toBeUndefined();
});

test('what pages of other origins load is refused too, but a link to the inspector may be followed', () => {
  const read = { ...asked, method: 'GET', contentType: undefined };
  for (const site of ['cross-site', 'same-site'])
    for (const mode of ['no-cors', 'cors', 'websocket', undefined])
      expect(refusal({ ...read, site, mode })).toMatchObject({ status: 403 });
  for (const site of ['same-origin', 'none', undefined])
    expect(refusal({ ...read, site, mode: 'cors' })).toBeUndefined();
  expect(refusal({ ...read, site: 'cross-site', mode: 'navigate' })).toBeUndefined();
});

test('writes are JSON, which a form of another page can not send', () => {
  for (const contentType of [
    undefined,
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/jsonp',
  ])
    expect(refusal({ ...asked, contentType })).toMatchObject({ status: 415 });
  expect(refusal({ ...asked, contentType: 'Application/JSON; charset=utf-8' })).toBeUndefined();
  expect(refusal({ ...asked, method: 'GET', contentType: undefined })).toBeUndefined();
});
