BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0001');
CREATE TABLE evaluations (
	number INTEGER NOT NULL, 
	id VARCHAR(64) NOT NULL, 
	tenant VARCHAR(128) NOT NULL, 
	request_id VARCHAR(128) NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	asked TEXT NOT NULL, 
	evaluation TEXT, 
	prompt_profile TEXT DEFAULT '' NOT NULL, 
	wanted INTEGER NOT NULL, 
	created_at DOUBLE NOT NULL, 
	started_at DOUBLE, 
	ended_at DOUBLE, 
	error_reason VARCHAR(64), 
	error_message TEXT, 
	CONSTRAINT pk_evaluations PRIMARY KEY (number), 
	CONSTRAINT uq_evaluations_id UNIQUE (id), 
	CONSTRAINT uq_evaluations_tenant_request_id UNIQUE (tenant, request_id)
);
INSERT INTO "evaluations" VALUES(1,'a','default','a','running','{"dataset":{"name":"lab","path":"","seed":2000,"questions":2,"checksum":"c0ffee"},"settings":[{"label":"no_retrieval","policy":{"name":"no_retrieval"}},{"label":"flare:theta=0.3","policy":{"name":"flare","overrides":{"theta":0.3}}},{"label":"flare:theta=0.8","policy":{"name":"flare","overrides":{"theta":0.8}}}],"index":"lab","timeout_s":60.0}
','{"scaar":"1.0","created":"2030-01-01T00:00:00+00:00","dataset":{"name":"lab","path":"","seed":2000,"questions":2,"checksum":"c0ffee"},"settings":[{"label":"no_retrieval","policy":{"name":"no_retrieval"}},{"label":"flare:theta=0.3","policy":{"name":"flare","overrides":{"theta":0.3}}},{"label":"flare:theta=0.8","policy":{"name":"flare","overrides":{"theta":0.8}}}],"provenance":{"no_retrieval":{"request_id":"","model":"lm","model_revision":"1","engine":"onnx","scorer":"","scorer_revision":"","index":"lab","index_version":"v1","prompt_profile":"lab-1","policy":{"name":"no_retrieval","when":"uncertain_draft","theta":0.3,"theta_cap":1.0,"query":{"formulation":"current_sentence","include_question":false},"top_k":3,"trigger":"flare"}},"flare:theta=0.3":{"request_id":"","model":"lm","model_revision":"1","engine":"onnx","scorer":"","scorer_revision":"","index":"lab","index_version":"v1","prompt_profile":"lab-1","policy":{"name":"flare","when":"uncertain_draft","theta":0.3,"theta_cap":1.0,"query":{"formulation":"current_sentence","include_question":false},"top_k":3,"trigger":"flare"}},"flare:theta=0.8":{"request_id":"","model":"lm","model_revision":"1","engine":"onnx","scorer":"","scorer_revision":"","index":"lab","index_version":"v1","prompt_profile":"lab-1","policy":{"name":"flare","when":"uncertain_draft","theta":0.3,"theta_cap":1.0,"query":{"formulation":"current_sentence","include_question":false},"top_k":3,"trigger":"flare"}}},"budget":{}}
','lab-1',6,100.0,101.0,NULL,NULL,NULL);
INSERT INTO "evaluations" VALUES(2,'b','default','b','queued','{"dataset":{"name":"lab","path":"","seed":2000,"questions":2,"checksum":"c0ffee"},"settings":[{"label":"no_retrieval","policy":{"name":"no_retrieval"}},{"label":"flare:theta=0.3","policy":{"name":"flare","overrides":{"theta":0.3}}},{"label":"flare:theta=0.8","policy":{"name":"flare","overrides":{"theta":0.8}}}],"index":"lab","timeout_s":60.0}
',NULL,'',6,105.0,NULL,NULL,NULL,NULL);
CREATE TABLE predictions (
	evaluation INTEGER NOT NULL, 
	question INTEGER NOT NULL, 
	setting INTEGER NOT NULL, 
	settled BOOLEAN NOT NULL, 
	failed BOOLEAN NOT NULL, 
	attempts INTEGER NOT NULL, 
	score DOUBLE NOT NULL, 
	retrievals INTEGER NOT NULL, 
	record TEXT NOT NULL, 
	CONSTRAINT pk_predictions PRIMARY KEY (evaluation, question, setting), 
	CONSTRAINT fk_predictions_evaluation FOREIGN KEY(evaluation) REFERENCES evaluations (number) ON DELETE CASCADE
);
INSERT INTO "predictions" VALUES(1,0,0,1,0,1,1.0,1,'{"setting":"no_retrieval","question_id":"q1","answer":"a countess","text":" a countess.","usage":{"retrievals":1,"llm_calls":2,"generated_tokens":30,"prompt_tokens":40,"latency_ms":12.5,"generation_ms":3.25,"scoring_ms":0.1,"retrieval_ms":0.3333333333333333},"end":"answer_phrase","decisions":[{"text":" a countess.","draft":" a queen.","words":[{"text":"a","start":0,"end":1,"probability":null,"threshold":0.3,"uncertain":true}],"score":0.0,"trigger":0,"query":{"text":"Ada?","formulation":"current_sentence","kept":[1,2]},"passage_ids":["p1","p2"]}]}
');
INSERT INTO "predictions" VALUES(1,0,1,1,0,1,1.0,1,'{"setting":"flare:theta=0.3","question_id":"q1","answer":"a countess","text":" a countess.","usage":{"retrievals":1,"llm_calls":2,"generated_tokens":30,"prompt_tokens":40,"latency_ms":12.5,"generation_ms":3.25,"scoring_ms":0.1,"retrieval_ms":0.3333333333333333},"end":"answer_phrase","decisions":[{"text":" a countess.","draft":" a queen.","words":[{"text":"a","start":0,"end":1,"probability":null,"threshold":0.3,"uncertain":true}],"score":0.0,"trigger":0,"query":{"text":"Ada?","formulation":"current_sentence","kept":[1,2]},"passage_ids":["p1","p2"]}]}
');
CREATE TABLE questions (
	evaluation INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	record TEXT NOT NULL, 
	CONSTRAINT pk_questions PRIMARY KEY (evaluation, position), 
	CONSTRAINT fk_questions_evaluation FOREIGN KEY(evaluation) REFERENCES evaluations (number) ON DELETE CASCADE
);
INSERT INTO "questions" VALUES(1,0,'q1','{"id":"q1","question":"Who is Ada?","answers":["a countess"],"entity":"Ada","labels":[["kind","one_hop"]]}
');
INSERT INTO "questions" VALUES(1,1,'q2','{"id":"q2","question":"Wer ist Łukasiewicz? ?","answers":["ein Logiker","logician"],"entity":"Łukasiewicz"}
');
INSERT INTO "questions" VALUES(2,0,'q1','{"id":"q1","question":"Who is Ada?","answers":["a countess"],"entity":"Ada","labels":[["kind","one_hop"]]}
');
INSERT INTO "questions" VALUES(2,1,'q2','{"id":"q2","question":"Wer ist Łukasiewicz? ?","answers":["ein Logiker","logician"],"entity":"Łukasiewicz"}
');
CREATE TABLE shards (
	evaluation INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	first INTEGER NOT NULL, 
	last INTEGER NOT NULL, 
	done BOOLEAN NOT NULL, 
	attempt INTEGER NOT NULL, 
	faults INTEGER NOT NULL, 
	holder VARCHAR(128), 
	lease_until DOUBLE, 
	CONSTRAINT pk_shards PRIMARY KEY (evaluation, number), 
	CONSTRAINT fk_shards_evaluation FOREIGN KEY(evaluation) REFERENCES evaluations (number) ON DELETE CASCADE
);
INSERT INTO "shards" VALUES(1,0,0,1,0,0,0,NULL,NULL);
INSERT INTO "shards" VALUES(1,1,1,2,0,0,0,NULL,NULL);
CREATE TABLE tenants (
	name VARCHAR(128) NOT NULL, 
	CONSTRAINT pk_tenants PRIMARY KEY (name)
);
INSERT INTO "tenants" VALUES('default');
CREATE INDEX ix_evaluations_state ON evaluations (state);
CREATE INDEX ix_predictions_figures ON predictions (evaluation, settled, setting, failed, score, retrievals);
COMMIT;
