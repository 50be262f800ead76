// The SDK's client is one as an archive takes it.
import { S3 } from "@aws-sdk/client-s3";
import { openStore, s3Archive } from "windrow/store";

const archive = s3Archive({ client: new S3({ region: "eu-central-1" }), bucket: "agents", prefix: "archive" });
export const store = openStore("./contexts", { archive });
