module example.com/call-webhooks-receiver

go 1.19
