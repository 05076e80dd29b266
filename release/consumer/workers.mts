// The entries of packages that are ES modules only: nothing may turn into `any`.
import { durableObjectStore, type CallWebhooksStore } from '@call-webhooks/cloudflare';

type IsAny<Type> = 0 extends 1 & Type ? true : false;
function typed<Type>(isAny: IsAny<Type>): IsAny<Type> {
  return isAny;
}

typed<ReturnType<typeof durableObjectStore>['admit']>(false);
typed<Parameters<CallWebhooksStore['admit']>[0]>(false);
