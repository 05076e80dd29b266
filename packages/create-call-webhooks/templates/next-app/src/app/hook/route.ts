import { callWebhooks } from '@call-webhooks/next';
import { handlers } from '@/handlers';
//: if sqlite|postgres|redis
import { store } from '@/store';
//: end

export const POST = callWebhooks({
  secret: process.env.CALL_WEBHOOK_SECRET,
  //: if sqlite|postgres|redis
  store,
  //: end
  on: handlers,
});
