package rewrite

// evidenceTable lists the phrases that speak for or against a prompt continuing a session's own work, one entry
// a line: kind, language, phrase. A phrase is matched word by word, ignoring case and punctuation. Bars separate
// alternative words, a word ending in * matches every word with that beginning, ".." matches up to three words, and
// ^ the beginning of a sentence or line. Languages written without spaces (zh, ja) list substrings.
// testdata/evidence.tsv has a sentence for each entry.
//
// Kinds that speak for it:
//
//	work   it refers to what the session did
//	state  it says that the work is not right yet
//	fix    it asks to mend what was done
//	goon   it asks to go on where the session stopped
//	log    it shows failing output; counts only with a file or a name from the session
//
// Kinds that speak against it, whatever speaks for it:
//
//	role    it assigns a role
//	judge   it asks for a judgement
//	clean   it asks for a clean start
//	sample  it is one of several samples, candidates or items
//	base    the prompt asks for independent answers; counts in what the session was sent before, too
//
// Kinds that speak against it unless it refers to the session's work:
//
//	task   it asks for something else
//	anew   it may mean a clean start
//	other  it may mean another agent's work, or ask for independence
//	vary   it may be a variation of an experiment
//	process the earlier prompt asked to process an item
const evidenceTable = `
work en your|ur change|changes|fix|fixes|patch|patches|implementation|commit|commits|edit|edits|refactoring|refactor|diff|rewrite|pr|branch|migration
work en your last|latest|previous|earlier|first|second|new|recent change|changes|fix|fixes|patch|version|commit|tests|test|attempt|implementation|edit|try|push
work en your prompt|script|function|query|code|solution|test|tests|draft|text|file|module|class|method|regex|guard lacks|lack|fails|fail|breaks|break|does|is|are|was|were|has|have|leaves|ignores|returns|throws|misses|still
work en your prompt|script|function|query|code|solution|test|tests|draft|text|file|module|class|method|regex|guard .. lacks|fails|breaks|leaves|ignores|throws|misses|still
work en your new|prompt|test|helper|script|config tests|test|files|file|function|class|helper|module|script|code
work en you forgot|missed|broke|overlooked|introduced|skipped|omitted|hardcoded|misread|misunderstood|reverted|renamed|removed|deleted|left|added|changed|moved|dropped|wrote|used|put|implemented|created|claimed|said
work en you did not|never|only add|address|handle|fix|cover|update|run|change|test|remove|include|finish|implement|touch|check|commit|push
work en you didn|haven|hadn t
work en you have|ve added|changed|removed|broken|written|left|introduced|implemented|done|only|forgotten|missed|not
work en your submission|document|report|plan|page|component|package|service|image|branch|container|screenshots|notebook|chart .. was|were|fails|failed|rejected|does|did
work en rejected|reverted|merged|reviewed|tested|validated|checked|ran|run|tried|after your
work en what you did|wrote|changed|built|made
work en as you suggested|proposed|wrote|said
work de deine|deiner|deinem|deinen|deine|dein|ihre|ihrer neue|neuer|neuen|letzte|letzten|letzter|vorige|vorigen änderung*|anpassung*|korrektur*|lösung*|fassung|tests|version
work de deine|deiner|dein|deinem|deinen änderung*|anpassung*|korrektur*|patch|umsetzung|implementierung|fix|commit
work de ^zu deine|deiner|deinen|deinem|ihrer|ihren|ihrem
work de du|sie hast|haben .. geschrieben|vergessen|übersehen|geändert|entfernt|gelöscht|gebrochen|eingebaut|ausgelassen|weggelassen
work fr ta|votre|tes|vos correction|corrections|modification|modifications|changement|changements|correctif|correctifs|implémentation|patch
work fr tu|vous as|avez|n .. écrit|fait|oublié|cassé|supprimé|changé|modifié|laissé|ajouté|omis
work es tu|su|tus|sus cambio|cambios|corrección|correcciones|arreglo|parche|implementación|modificación
work es has|ha|no olvidado|roto|cambiado|eliminado|dejado|añadido|cubierto
work es olvidaste|rompiste|cambiaste|eliminaste|quitaste|dejaste|añadiste
work pt sua|seu|suas|seus|tua|teu mudança|mudanças|alteração|alterações|correção|correções|patch|implementação
work pt você|tu esqueceu|quebrou|removeu|mudou|deixou|alterou|adicionou
work it la|le|il|i tua|tue|tuo|tuoi|sua|suo modifica|modifiche|correzione|correzioni|patch|implementazione
work it hai dimenticato|rotto|rimosso|cambiato|lasciato|aggiunto|tralasciato
work nl je|jouw|uw wijziging*|aanpassing*|correctie|patch|implementatie|fix
work nl je|jij hebt|bent .. vergeten|verwijderd|gewijzigd|gebroken|toegevoegd
work pl twoja|twoje|twojej|twoją|twoich zmian*|popraw*|łatk*|implementacj*
work pl zapomniałeś|zapomniałaś|pominąłeś|zmieniłeś|usunąłeś|zepsułeś|dodałeś
work ru твои|твоё|твое|твоя|твоей|твой|ваши|ваша|ваше|вашей|ваш изменени*|правк*|исправлени*|патч*|реализаци*
work ru ты|вы забыл*|пропустил*|сломал*|удалил*|изменил*|добавил*|не
work zh 你这次|你的改动|你的修改|你的补丁|你的实现|你上次|你刚才|你忘|你漏|你改|你删|您的修改|您的改动|您忘
work ja 先ほどの変更|先ほどの修正|あなたの変更|あなたの修正|前回の変更|前回の修正|今回の変更|ご提出の
state en still fail|fails|failing|broken|breaks|break|wrong|red|missing|crash|crashes|crashing|leaks|leak|open|present|happens|happening|reproduces|flaky|hangs|hang|incorrect|incomplete|untested|unresolved|unfixed|slow|throws|errors|rejected|get|getting|see|seeing|misses|returns|shows|prints|times
state en still not|does|doesn|do|don|isn|aren|can|cannot|has|have|no|a|an|the|one|two|some|too
state en is|are|was|were|remains|remain still
state en not|isn|aren|wasn t|yet|been|fully .. fixed|resolved|addressed|handled|covered|done|mended|implemented|complete|solved
state en keeps|keep|kept failing|crashing|breaking|hanging|happening
state en the same|identical error|failure|problem|bug|test|tests|crash again|fails|still|as
state en same error|failure|problem|bug
state en fails|failed|failing|broke|crashes|crashed again
state en now fails|fail|broken|breaks|crashes|red
state en does|did|do not work|compile|build|pass|apply|parse
state en doesn|didn|don|won t work|compile|build|pass|apply|parse
state en unaddressed|unresolved|regressed|regression
state en is|are|was|were not covered|tested|handled|checked|validated|escaped|closed
state en one|last|another|two|three more|last|thing thing|things|problem|problems|nit|nits|point|points
state en remaining|open problems|problem|failures|findings|nits|points
state de immer noch
state de noch immer|nicht|ein|offen
state de schlägt|schlagen .. fehl
state de scheitert|scheitern|fehlgeschlagen|fehlschlägt
state de funktioniert|klappt|läuft|kompiliert|baut .. nicht
state de fehlt|fehlen noch|ein|eine|der|die|das|weiterhin
state de es fehlt|fehlen
state fr toujours|encore pas|faux|cassé|en|rouge|échoue|échouent|le|la|une|un|des
state fr ne|n .. fonctionne|compile|passe|marche|gère|couvre pas|plus
state fr échoue|échouent
state fr il manque|reste
state es sigue|siguen|todavía|aún fallando|falla|fallan|roto|sin|no|fallo
state es no funciona|compila|pasa|cubre|maneja
state es falla|fallan|falta|faltan
state pt ainda|continua não|falha|falham|falhando|falta|quebrado|quebrada|sem
state pt não funciona|compila|passa|cobre|trata
state it ancora non|fallisce|falliscono|rotto|rossa|rosso|manca
state it non funziona|compila|passa|gestisce|copre
state it fallisce|falliscono|manca|mancano
state nl nog steeds|niet
state nl faalt|falen|ontbreekt|ontbreken|mislukt
state pl nadal|wciąż|dalej nie|pada|padają|brakuje|błąd
state pl nie działa|przechodzi|przechodzą|kompiluje|obsługuje
state ru всё|все|по ещё|еще|прежнему
state ru не работает|проходит|проходят|компилируется|обрабатывает|исправлено|собирается
state ru падает|падают
state zh 仍然|还是失败|还没有|依然|还缺|没有通过|未通过|不能编译|没有修复|还在报错|写死
state ja まだ失敗|まだ直って|依然として|失敗しています|通りません|直っていません|足りません|ありません
fix en ^please|then|now|and fix|mend|correct|address|repair|resolve|rework|revise|redo|undo|amend it|them|this|these|that|those|both|all|each|every|the
fix en ^please fix|mend|revise|rework|correct|amend
fix en fix|mend|correct|address|repair|resolve|rework|revise|amend it|them|this|these|those
fix en address the|each|all|every feedback|comments|comment|review|findings|notes|points|point|remarks|following
fix en make it|both|these|the green|pass|build|compile|changes
fix en ^please make|add|do both|them|it|these|this
fix de bitte .. behebe*|korrigier*|ändere|bessere|repariere|ergänze|beheben|korrigieren|nachbessern|fülle
fix de ^behebe|korrigiere|bessere|repariere das|es|sie|diese|dies|beides|beide|nach
fix fr ^corrige|corrigez|répare|réparez ça|cela|ces|cette|les|le|la|tout
fix fr corrige|corrigez la|le|les
fix es ^corrígelo|corrígela|corrígelos|corrígelas|arréglalo|arréglala|arréglalos
fix es corrígelo|arréglalo|corríjalo|arréglelo
fix es ^corrige|arregla|corrija eso|esto|estos|ambos|todo
fix pt corrija|conserte|arrume isso|isto|estes|esses|ambos|tudo
fix it correggi|correggilo|correggila|correggili|sistemalo|sistema
fix nl herstel|verbeter|los dit|deze|het|dat|beide
fix pl popraw|napraw to|te|je|obie|wszystkie
fix ru исправь|исправьте|почини|почините
fix zh 请修|请改|改一下|修一下|请补|请加|请修复|请修正
fix ja 直してください|修正してください|追加してください|対応してください
goon en ^go on|ahead
goon en ^continue|resume where|from|with|the|your|work|working|please
goon en where|from you left|stopped|were
goon en ^continue
goon en ^keep going|working
goon en ^finish the|it|what|your rest|job|work|remaining|you
goon de mach|mache|machen .. weiter
goon de ^weiter|fahre|fahr|setze
goon de wo|der|an du|sie .. aufgehört|unterbrochen|stehengeblieben
goon fr ^continue|continuez|reprends|reprenez|poursuis|poursuivez
goon es ^continúa|continúe|sigue|prosigue
goon pt ^continue|continua|prossiga
goon it ^continua|prosegui|riprendi
goon nl ^ga verder|door
goon pl ^kontynuuj
goon ru ^продолжай|продолжайте|продолжи
goon zh 请继续|继续上次|接着做
goon ja 続けてください|続きをお願いします
log en failed tests|test
log en assertionerror|typeerror|nameerror|attributeerror|valueerror|keyerror|importerror|indexerror|syntaxerror|referenceerror|nullpointerexception|modulenotfounderror|indentationerror
log en traceback most recent call last
log en ^fail
log en build|tests|test|ci|lint|compilation|pipeline|check|checks|suite|job failed|fails|failing|red|broke
log en test|tests|testing|build|make|lint fail|fails|failed
log en npm err
log en exit|exited with|code|status code|status|1|2|101|127|255
log en error ts*|e0*
log en panicked at
log en segmentation fault
log en undefined reference|symbol
log en compile|compiler|compilation|syntax|type|runtime error|errors
log en failures|failed 1|2|3|4|5|6|7|8|9
log en got .. want|expected
log en expected .. got|but|actual|received|was
role en ^you are|re a|an|the|now|acting|playing|our|one|no|agent|here
role en you are|re now|no the|a|an|our|longer
role en ^act|acting|behave|respond|answer|speak|write|think as|like
role en ^pretend
role en ^imagine|suppose|assume .. you|yourself|i
role en ^as an|a|the .. judge|reviewer|auditor|critic|grader|examiner|moderator|manager|tester|arbiter|referee|evaluator|assessor|editor|lawyer|expert|engineer|architect|verifier|chair|lead|owner|analyst|translator|coach|adviser|advisor
role en your role|task|assignment|duty|mission is|now|here|will
role en your job|part|function is to|now|no|not
role en your new role|job|task
role en ^your role
role en take|assume|adopt|switch .. role|hat|perspective|persona|viewpoint
role en wear|put .. hat
role en from now on you|act|answer|respond|behave|your|as
anew en from now on
role en ^new role|task|assignment|persona|job
role en ^role of|a|an|the|judge|reviewer|auditor|critic|grader|examiner|tester|verifier|evaluator|assessor|customer|user|planner|manager|coder|developer|engineer|expert
task en ^role
judge en ^grade|judge|evaluate|assess|classify|critique|appraise|adjudicate|arbitrate|triage|categorize|categorise
judge en ^score|rate|rank|audit|vote|mark the|this|it|them|each|every|all|these|both|how|whether|on|for|his|her|their
task en ^score|rate|rank|audit|vote|mark|label|tag
judge en please|now grade|score|rate|judge|rank|evaluate|assess|classify|audit|critique|mark|appraise
judge en and|then|to grade|judge|critique|appraise|assess
task en and|then|to score|rate|rank|evaluate|classify|audit
task en ^compare|summarize|summarise|translate|paraphrase|condense|explain|describe|suggest|predict|guess|extract|identify|propose|draft|determine|verify|validate|inspect|examine|list|pick|choose|select|tell|give|return|output|reply|respond|count|estimate|discuss|argue|rephrase|write|say
judge en ^review the|this|it|that|his|her|their|both|all|each|everything
judge en please|now review the|this
task en ^check whether|if|the|that|for
judge en decide|determine|judge whether|if|which|who|whose
task en say|verify|state whether|if|which|who|whose
judge en scale of|from
judge en from 0|1|one to|through 5|6|10|100|five|ten|hundred
task en out of 10|100|5
judge en score|grade|rating|mark|points between|out
task en score|grade|rating|mark|points from|of|for|as
judge en pass or fail
judge en follow up|ups question|questions|suggestions
judge en summarize|summarise|title|name|label|translate|classify|rate|analyze|analyse|continue|complete|moderate the|this|our conversation|chat|thread|dialogue|dialog|exchange|transcript|message|discussion
judge en the|this|our conversation|chat|thread|dialogue|dialog|transcript|discussion above|so|as|in|into|for|with|is|ends|below|handed
judge en user|customer|they|speaker|client .. say|says|ask|asks|reply|write|writes|type next
judge en unfinished|half message|sentence|turn|typed
judge en rubric|scorecard|grader|grading|examiner|jury|juror|adjudicator|referee|arbiter
judge en impartial|unbiased|neutral judge|reviewer|observer|third|party|expert|assessor|evaluator|grader|critic
task en write|draft|compose a|an|the .. report|summary|review|verdict|assessment|critique|title|headline|commentary|postmortem|email|mail|letter|tweet|announcement
role de ^du|sie bist|sind ein|eine|der|die|das|nun|jetzt|kein|keine
role de ^als|in .. prüfer|prüferin|gutachter|gutachterin|richter|richterin|reviewer|kritiker|lektor|tester|leiter|leiterin|revisor|revisorin
role de deine|ihre aufgabe|rolle|aufgaben ist|lautet|nun|jetzt|hier
judge de ^bewerte|beurteile|benote|begutachte|klassifiziere|urteile|vergib|übersetze
task de ^prüfe|vergleiche|fasse|entscheide|nenne|erkläre|stelle|formuliere|schreibe|gib|werte|schätze|bestimme
judge de ^bewerten|beurteilen|begutachten sie
task de ^prüfen|vergleichen|entscheiden sie
role de ab jetzt|nun bist|spielst|sind|antwortest|übernimmst
anew de ab jetzt|nun
role de schlüpfe|schlüpf|versetze|versetz|nimm .. rolle|lage|standpunkt|sicht
judge de skala|note|punkte|punkten von|zwischen
role fr ^tu|vous es|êtes un|une|le|la|désormais|maintenant|l
role fr ^en tant que
role fr ton|votre|ta rôle|tâche|mission est|consiste|sera|désormais|maintenant
judge fr ^évalue|évaluez|juge|jugez|traduis|traduisez
judge fr ^notez|classez|note|classe chaque|cette|ce|ces|les|sur|de
task fr ^comparez|résume|résumez|décide|décidez|donne|donnez|vérifie|vérifiez|explique|expliquez|rédige|rédigez|relis|relisez|critique|critiquez|écris|écrivez|dis|dites
role fr désormais|dorénavant tu|vous
judge fr sur une|de échelle|un|0|1 de|à
judge fr se prononce|prononcer|prononcez
role es ^eres|usted ahora|un|una|el|la|es
role es ^actúa|actúe|compórtate|compórtese como
role es ^como un|una|el|la|juez|revisor|revisora|auditor|auditora|crítico|experto|evaluador
role es tu|su|nuevo|nueva papel|rol|tarea|función|trabajo es|será|ahora|consiste
judge es ^evalúa|evalúe|juzga|juzgue|puntúa|puntúe|califica|califique|clasifica|audita|audite|traduce|traduzca
task es ^compara|resuma|decida|explica|explique|di|diga|dé|escribe|escriba|revisa|redacta|redacte
anew es a|de partir|ahora de|en ahora|adelante
role pt ^você|tu é|és um|uma|o|a|agora
role pt ^atue|aja|haja|comporte|finja
role pt seu|sua papel|função|tarefa é|será|agora
judge pt ^avalie|julgue|classifique|traduza|audite|pontue
task pt ^resuma|decida|explique|escreva|dê|diga
role it ^tu|lei sei|è un|una|uno|il|la|lo|ora
role it ^sei un|una|uno|il|la|lo|ora
role it ^agisci|comportati|fingi
role it ^come un|una|revisore|giudice|esperto
role it il|tuo|la compito|ruolo è|ora|adesso
judge it ^valuta|giudica|traduci|classifica|esamina
task it ^confronta|riassumi|decidi|spiega|scrivi|dai|rivedi
role nl ^je|jij|u bent een|nu
judge nl ^beoordeel|vertaal|becijfer
task nl ^vergelijk|beslis|controleer|schrijf|geef|vat|leg
role nl jouw|je|uw rol|taak is|nu|wordt
role pl ^jesteś|pan|pani teraz|jest|ekspertem|recenzentem|sędzią|audytorem|testerem|niezależnym
judge pl ^oceń|przetłumacz|zrecenzuj
task pl ^porównaj|streść|zdecyduj|sprawdź|wyjaśnij|napisz|podaj
role pl twoją|twoja|twoje rolą|rola|zadanie|zadaniem jest|to|teraz
role ru ^ты|вы теперь|эксперт|судья|рецензент|аудитор|тестировщик|независимый|редактор
judge ru ^оцени|оцените|переведи|переведите|выскажи
judge ru ^поставь|поставьте .. оценку|балл*
task ru ^сравни|сравните|реши|решите|проверь|проверьте|объясни|объясните|напиши|напишите|подведи
role ru твоя|ваша|твоей|вашей роль|задача|задачей
role zh 你是一|您是一|你现在是|作为一|作为评|扮演|请评|打分|请判断|请比较|请翻译|请总结|请审查|请审核|你的角色
task zh 评分|评价
role ja あなたは|として振る舞|として回答|評価してください|採点|判定してください|比較してください|翻訳してください|要約してください|あなたの役割
task ja 審査|役割
anew en from scratch|zero|nothing
clean en start over|anew|afresh|fresh|again|clean
clean en begin again|anew|afresh|fresh
anew en fresh|clean|new start|session|slate|conversation|chat|context|page|workspace|sandbox|container|copy|checkout|clone|thread|instance|subject|attempt
clean en blank slate|page
clean en day one
clean en ^ignore|disregard|forget|discard|erase .. everything|all|anything|what|whatever|previous|earlier|prior
anew en ^ignore|disregard|forget|discard|erase .. any|above|before|it|that|them
clean en and|then|please|now ignore|disregard|forget .. everything|all|anything|what|whatever|previous|earlier|prior|above|before
clean en no|without memory|recollection|knowledge|history|context|prior|previous of|from|about|work|attempts|conversation
anew en no|without access|record|history|knowledge of|from|to|or
anew en do|must|should|may|can|shall|will|cannot not|never remember|recall|rely|know|use|look|consider|mention|reuse|trust|refer|carry
anew en don|mustn|shouldn|won t remember|recall|rely|use|look|consider|mention|reuse|trust|refer|carry
anew en was|were|been|is|has|been reset|cleared|wiped|discarded|recreated|restored|erased|purged|rebuilt|replaced|reverted|deleted|withdrawn|invalidated|emptied
anew en rolled|roll back
anew en must|may|should|can|cannot not|no .. used|mentioned|quoted|repeated|relied|considered|use|mention|refer|rely
anew en by mistake|accident|error
anew en word for word
clean en repeat|reveal|print|show|list|recite|quote .. conversation|instructions|verbatim
anew en repeat|reveal|print|show|list|recite|quote .. everything|all|said|messages
clean en as|treat if|this|it .. first|new
clean en as if nothing|never .. before|said|written|discussed
anew en first time
clean en ^new conversation|session|chat|thread|day|customer|user|client|case|ticket|topic|subject|question|order|request|document|patient
clean en ^next|another|different task|ticket|customer|user|client|topic|patient|document|case
clean en ^next item|file|question|issue|order|record|request
anew en ^another|different item|file|question|issue|order|record|request
anew en unrelated|separate task|question|request|matter|issue|topic
anew en switch|change|changing to|topic|subject
clean en stateless
clean en a|another|the new|fresh|different|next agent|worker|instance|subagent|process|runner|assistant
clean en ticket|task|item|issue|case above|before is|was closed|done|finished|resolved
anew en shared in|by|with
anew en consent|withdrawn|gdpr
clean de von vorn|vorne|null
anew de von neuem|grund
clean de neu|frisch anfangen|beginnen|starten
clean de vergiss|vergessen|ignoriere|ignorieren|verwirf|lösche .. alles|was|bisherige*|vorherige*|frühere*|sie
clean de kein|keine|keinerlei|ohne gedächtnis|erinnerung|vorwissen|kenntnis*|kontext
anew de zurückgesetzt|verworfen|geleert|gelöscht|widerrufen
anew de neu aufgesetzt
clean de ^neue|neues|neuer|neuem|nächste|nächster|nächstes|andere|anderer|anderes gespräch|sitzung|kunde|kundin|aufgabe|auftrag|ticket|fall|unterhaltung|frage|vorgang|datei
anew de neue|neues|neuer|neuem|nächste|nächster|nächstes|andere|anderer|anderes gespräch|sitzung|kunde|kundin|aufgabe|auftrag|ticket|fall|unterhaltung|frage|vorgang
anew de wort für
anew de zum ersten
clean fr de|à|depuis zéro
clean fr oublie|oubliez|ignore|ignorez .. tout|toute|tous|ce|qui|les
clean fr aucun|aucune|sans mémoire|souvenir|connaissance|contexte
clean fr ^nouvelle|nouveau|autre conversation|session|client|cliente|tâche|dossier|demande|question|discussion
anew fr nouvelle|nouveau|autre conversation|session|client|cliente|tâche|dossier|demande|question|discussion
anew fr réinitialisé|réinitialisée|effacé|effacée|remis|repars|recommence|recommencez|annulé
clean fr sans être lié|liée|liés
anew fr mot à|pour mot
clean es desde|de cero
clean es empieza|comienza|empezar de|desde nuevo
clean es olvida|olvide|ignora|ignore .. todo|lo|cualquier|anterior
clean es sin|ninguna|ningún recuerdo|contexto|conocimiento
clean es sin memoria de|previa|entre
clean es ^nueva|nuevo|otra|otro|siguiente conversación|sesión|cliente|clienta|tarea|caso|pregunta|consulta|expediente
anew es nueva|nuevo|otra|otro|siguiente conversación|sesión|cliente|clienta|tarea|caso|pregunta|consulta|expediente
anew es reiniciado|reiniciada|borrado|borrada|descartado|descartada|restablecido
anew es palabra por
clean pt do|de zero
clean pt comece|começa de novo
clean pt esqueça|ignore|esquece .. tudo|o|qualquer|anterior
clean pt sem|nenhuma lembrança|contexto|conhecimento
clean pt ^nova|novo|outra|outro|próximo|próxima conversa|sessão|cliente|tarefa|caso|pergunta
anew pt nova|novo|outra|outro|próximo|próxima conversa|sessão|cliente|tarefa|caso|pergunta
clean it da zero|capo
clean it dimentica|ignora .. tutto|quanto|ciò|precedente
clean it senza|nessuna memoria|ricordo|contesto
clean it ^nuova|nuovo|altra|altro|prossimo conversazione|sessione|cliente|compito|caso|domanda
anew it nuova|nuovo|altra|altro|prossimo conversazione|sessione|cliente|compito|caso|domanda
clean nl vanaf|van nul|voren|scratch
clean nl vergeet|negeer .. alles|wat|eerdere|vorige
clean nl geen|zonder herinnering|context|kennis
clean nl zonder geheugen
clean nl ^nieuw|nieuwe|andere|volgende gesprek|sessie|klant|taak|vraag|zaak
anew nl nieuw|nieuwe|andere|volgende gesprek|sessie|klant|taak|vraag|zaak
clean pl od zera|nowa
anew pl od początku
clean pl zapomnij|zignoruj .. wszystko|o|co|wcześniejsze|poprzednie
clean pl bez pamięci|kontekstu
clean pl ^nowa|nowy|nowe|inna|inny|następny|następne rozmowa|sesja|klient|zadanie|sprawa|pytanie
anew pl nowa|nowy|nowe|inna|inny|następny|następne rozmowa|sesja|klient|zadanie|sprawa|pytanie
clean ru с нуля|чистого
anew ru с начала
clean ru забудь|забудьте|игнорируй|игнорируйте .. всё|все|что|предыдущ*
clean ru без памяти|контекста
clean ru нет памяти о|контекста
clean ru ^новый|новая|новое|другой|другая|следующий|следующая разговор|сессия|клиент|задача|дело|вопрос|диалог
anew ru новый|новая|новое|другой|другая|следующий|следующая разговор|сессия|клиент|задача|дело|вопрос|диалог
clean zh 从头开始|重新开始|忘记之前|忘记以上|忘掉|忽略之前|忽略以上|没有记忆|新的对话|新会话|新对话|另一个客户|新客户|下一个任务|新任务
anew zh 从头|已重置|被重置|清空|第一次|逐字|全新
clean ja 最初から|一から|ゼロから|忘れてください|無視してください|記憶はありません|新しい会話|新しいセッション|別の顧客|次のタスク|白紙
anew ja リセット|初めて
other en independent|independently
other en fresh|new|second|another|different pair|eyes|mind|opinion|look
other en blind|blinded|blindly
other en second|third|outside|external opinion|reader|reviewer|look|view
other en never seen|read|written|met
other en not|t seen|written|wrote|write|taken|involved|seeing|met
other en no knowledge|access|idea
other en another|different|other|previous|earlier|prior|former|separate|someone|somebody|one engineer|developer|agent|model|reviewer|moderator|person|instance|team|colleague|worker|expert|assistant|system|run|author|programmer|contractor|participant|candidate|student|contestant|else|vendor|ai|bot|llm|coder|maintainer|of
other en your|a colleague|coworker|teammate|predecessor|successor
other en a|the|this|our|each|every colleague|candidate|candidates|student|students|contestant|applicant|participant|respondent|submission|submissions|author|subject|model|engineer|developer|coder|worker|contractor|junior|intern|trainee|teammate|coworker|agent
other en someone|somebody|anyone else
other en candidate|submission|submitted|proposed diff|patch|solution|answer|change|code|fix|response|work
other en attempt|answer|solution|response|output|version|option|variant a|b|c|d|1|2|3|4|x|y
other en the response|answer|output|solution|draft|diff|patch|transcript|conversation|exchange|dialogue|dialog|log above|below|under|given|shown|was|in|between|of|to
other en first|initial|previous|earlier|original decision|ruling|verdict|answer|response|judgement|judgment
other en on your own
other en open|closed book
other de unabhängig*|unvoreingenommen*|unbefangen*|unparteiisch*
other de frischen|frischem|anderen|neuen augen|blick
other de zweite|zweiten|dritte meinung|durchsicht|prüfung
other de ein|eine|einer|einem|der|die anderer|andere|anderen|andere|kollege|kollegin|kollegen|entwickler|kandidat|bewerber|prüfling|vorgänger
other de nicht geschrieben|gesehen|verfasst|gelesen|beteiligt
other fr indépendamment|indépendant|indépendante|impartial|impartiale|aveugle
other fr un|une|l autre|collègue|candidat|candidate|élève|développeur|confrère
other fr nouveau|second|deuxième|autre regard|avis
other es independiente|independientemente|imparcial|ciegas
other es otro|otra|un|una|el|la ingeniero|ingeniera|agente|persona|equipo|revisor|colega|candidato|modelo|compañero|alumno
other es segunda opinión
other pt independente|independentemente|imparcial|cegas
other pt outro|outra|um|uma|o engenheiro|agente|pessoa|colega|candidato|modelo|desenvolvedor
other it indipendente|indipendentemente|imparziale
other it un|una|altro|altra altro|altra|collega|candidato|agente|sviluppatore
other nl onafhankelijk*|onpartijdig*
other nl een|andere ander|andere|collega|kandidaat|ontwikkelaar
other pl niezależn*|bezstronn*
other pl inny|inna|ktoś programista|agent|osoba|inżynier|inny
other ru независим*|беспристрастн*
other ru другой|другая|другого|коллега|кандидат разработчик|агент|человек|инженер|модель|решил
other zh 独立|另一位|另一个|其他人|同事|盲审|候选|第二意见|客观
other ja 独立して|別の|他の人|同僚|候補|盲検|第三者|客観的
sample en ^sample|seed|seeds|candidate|variant|variation|trial|draw|rollout|beam|approach|hint|example|shot|shots|temperature|permutation|fold|option|persona|budget|generation|parent|mutation|replica|repetition|nonce|hypothesis|experiment|arm 0*|1*|2*|3*|4*|5*|6*|7*|8*|9*|a|b|c|d|x|y|of|no|is|under
sample en ^run|branch|path|node|item|token|ticket|batch|chunk|page|part|record|row|document|case|question|scenario|condition|setting|parameter|config 0*|1*|2*|3*|4*|5*|6*|7*|8*|9*|no of 0*|1*|2*|3*|4*|5*|6*|7*|8*|9*
vary en ^run|branch|path|node|item|token|ticket|batch|chunk|page|part|record|row|document|case|question|scenario|condition|setting|parameter|config 0*|1*|2*|3*|4*|5*|6*|7*|8*|9*|a|b|c|d|x|y|of|no|is|under|to
sample en sample|candidate|variant|trial|draw|rollout of|1|2|3|4|5|6|7|8|9|10
sample en attempt|run|chunk|batch 1|2|3|4|5|6|7|8|9|10 of 1*|2*|3*|4*|5*|6*|7*|8*|9*
vary en attempt|run|chunk|batch of|1|2|3|4|5|6|7|8|9|10
sample en seed|temperature|nonce 0*|1*|2*|3*|4*|5*|6*|7*|8*|9*
vary en seed|temperature|nonce is
sample en top p|k 0*|1*|2*|3*|4*|5*|6*|7*|8*|9*
vary en ^use a|an|only|these|different|another|at|no
vary en ^think|reason|answer|solve|try|approach .. step|carefully|aloud|differently|briefly|using|independently|another|different|again
vary en different|another|alternative approach|solution|strategy|way|method|angle|answer|version|idea
sample de ^stichprobe|variante|kandidat|lauf|versuch|beispiel|hinweis|ansatz|weg|pfad|option|eintrag|datei|fall 0*|1*|2*|3*|4*|5*|6*|7*|8*|9*|a|b|c|von|nr
sample fr ^échantillon|variante|candidat|essai|exemple|indice|piste|option|dossier|fichier|cas 0*|1*|2*|3*|4*|5*|6*|7*|8*|9*|a|b|c|n
sample es ^muestra|variante|candidato|intento|ejemplo|pista|opción|caso|archivo|enfoque 0*|1*|2*|3*|4*|5*|6*|7*|8*|9*|a|b|c|n
sample zh 随机种子|候选一|候选二|变体|提示一|提示二
vary zh 样本|候选
vary ja サンプル|候補|ヒント|シード
base en no|without memory|recollection of|from|or
base en stateless
base en each|every|this|all|any call|calls|request|requests|message|messages|prompt|prompts|item|items|case|cases|conversation|ticket|document|file|question|run .. alone|independent|independently|separately|stateless|isolation
base en each|every call|request|message|prompt|item|case|conversation|ticket|document|question|run .. on its own
base en independent of|from any|all|earlier|previous|other .. request*|call*|message*|prompt*|item*|case*|conversation*|ticket*|document*|question*|answer*|ones
base en request*|call*|message*|prompt*|item*|case*|conversation*|ticket*|document*|question* .. independent of|from each|one
base en not|never refer|rely|remember|carry .. earlier|previous|prior|other|before|anything|over
base en not|never use|reuse|assume .. earlier|previous|prior|other message*|conversation*|request*|call*|turn*|context|item*|answer*|result*|ticket*|prompt*
process en ^judge|grade|rate|score|evaluate|assess|classify|triage|summarize|summarise|translate|review|label|rank|compare the|this|each|every|following|what|it|them|one|all|a|an|whether|how
base de kein|keine|ohne gedächtnis|erinnerung
base de jede|jeder|jedes|jeden anfrage|aufruf|nachricht|auftrag|fall|datei|vorgang .. allein|einzeln|getrennt|isoliert|unabhängig*|sich
process de ^bewerte|beurteile|benote|prüfe|fasse|übersetze|klassifiziere|begutachte den|die|das|folgende*|jeden|jede|jedes|diese*|ob|nur|zusammen
base fr sans|aucune mémoire
base fr chaque appel|demande|requête|message|dossier|fichier|question|cas .. seul|seule|isolé|isolée|indépendant*|indépendamment|séparément
process fr ^évalue|évaluez|juge|jugez|note|notez|résume|résumez|traduis|traduisez|classe|classez le|la|les|ce|cette|chaque|l|si
base es sin memoria de|previa|entre
base es cada llamada|petición|mensaje|caso|consulta|archivo|pregunta .. solo|sola|aislado|aislada|independiente*|separado
process es ^evalúa|juzga|puntúa|califica|resume|traduce|clasifica el|la|los|las|este|esta|cada|si
base zh 无状态|没有记忆|互不相关|独立处理
process zh 请评|请翻译|请总结|请分类
base ja 記憶を持た|独立して処理|毎回独立
process ja 要約してください|翻訳してください|分類してください|評価してください
`
