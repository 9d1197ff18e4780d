/** The half of the evaluation set that judges, and by which nothing may be chosen. */
export const HELD_OUT = `
schema-migrator | Changes database schemas without stopping the application and can undo each step
  | postgres flyway
? change a database schema without stopping the application
~ add a column to a live table with no downtime
~ alter Oracle tables while users keep working
query-tuner | Finds slow SQL statements and proposes indexes that make them faster | postgres
  explain
? find slow SQL statements
~ our lookups take too long, speed up the RDBMS
~ optimise joins that cause high latency
data-cleaner | Removes duplicates and repairs wrong values in customer records | pandas
? remove duplicates from customer records
~ tidy a messy spreadsheet with repeated rows and typos
~ deduplicate and correct client information
pipeline-builder | Moves data every night from sales systems into the warehouse and checks that it
  arrived | airflow dbt
? move data every night into the warehouse
~ ETL job that loads tables on a schedule
~ ingest and transform daily feeds for analytics
dashboard-designer | Builds dashboards that show key figures of the company at a glance | grafana
? build dashboards with key figures
~ visualise business metrics for management
~ charts of KPIs on one screen
data-masker | Replaces names and addresses in test data so that nobody can be recognised | faker
? replace names in test data
~ anonymise personal information before sharing it with developers
~ pseudonymise people in a staging copy
page-builder | Builds web pages from a design, with components and responsive layout | react css
? build web pages from a design
~ turn a Figma mock-up into HTML
~ frontend developer for a landing site
access-auditor | Checks whether blind and deaf people can use a website, and how to fix it | axe
  browser
? check whether blind people can use a website
~ accessibility review for disabled visitors with screen readers
~ WCAG compliance for users with impaired vision
app-maker | Writes apps for iPhone and Android and submits them to the stores | xcode gradle
? write apps for iPhone and Android
~ mobile software developer for smartphones
~ publish on Google Play a program for phones
string-localizer | Keeps the texts of an application in all its languages, with plurals and
  placeholders | gettext
? keep the texts of an application in all languages
~ internationalise the user interface for foreign markets
~ i18n of buttons and labels
api-documenter | Writes reference documentation and examples for REST interfaces | openapi
? write reference documentation for REST interfaces
~ explain endpoints to programmers who integrate with us
~ swagger pages describing requests and responses
form-tester | Clicks through web forms like a user and reports what breaks | playwright
? click through web forms and report what breaks
~ end-to-end QA in a real browser
~ automated checks of the signup flow
cloud-saver | Finds servers that nobody uses and cuts the monthly bill of the cloud provider | aws
  billing
? cut the monthly bill of the cloud provider
~ reduce Azure spending on idle instances
~ our hosting costs too much money
certificate-keeper | Renews TLS certificates before they expire and installs them on all hosts |
  acme openssl
? renew TLS certificates before they expire
~ HTTPS stopped working because it was outdated, replace the SSL
~ prevent browser warnings about an insecure site
backup-guard | Makes backups of databases every night and proves by restoring that they are good |
  restic s3
? make backups of databases every night
~ safe copies in case the disk dies
~ disaster recovery after losing everything
pager-duty-officer | Wakes the engineer on call when a service is down and keeps a timeline |
  alertmanager
? wake the engineer on call when a service is down
~ notify somebody at midnight of an emergency
~ escalate incidents to the responsible person
capacity-planner | Predicts when machines will be full and orders more in time | prometheus
? predict when machines will be full
~ how many additional servers do we need next year
~ forecast growth of disk and memory usage
dns-admin | Manages domain names, records and mail settings such as SPF and DKIM | bind route53
? manage domain names and records
~ point our URL to another IP address
~ configure nameservers for a new website
secret-scanner | Looks for passwords and keys that were committed to repositories by mistake | git
  gitleaks
? look for passwords committed by mistake
~ leaked credentials in source code
~ did somebody push an API token
patch-bot | Updates libraries with known vulnerabilities and opens a pull request for each | npm
  git
? update libraries with known vulnerabilities
~ upgrade outdated dependencies that have CVEs
~ keep third-party packages secure
phish-catcher | Recognises fraudulent emails and warns the people who got them | imap
? recognise fraudulent emails
~ suspicious message asking for my bank login
~ block scams and spam arriving at the company
access-reviewer | Lists who may do what in which system and takes rights away that nobody needs |
  ldap iam
? list who may do what in which system
~ audit user permissions and revoke unnecessary privileges
~ least privilege for employees' accounts
pen-tester | Attacks applications with permission, as a hacker would, and writes down the holes it
  found | burp
? attack applications as a hacker would
~ ethical security assessment of our website
~ try to break into my software and report weaknesses
firewall-keeper | Writes firewall rules, and explains which of them are never used | iptables
? write firewall rules
~ block network traffic from certain IP addresses
~ should these ports be closed
expense-checker | Reads receipts of business trips and checks them against the rules of the
  company | ocr
? read receipts of business trips
~ reimburse staff for taxi and meal costs
~ approve what employees spent while travelling
tax-preparer | Fills in the yearly tax return and finds deductions | elster
? fill in the yearly tax return
~ declare my income to the revenue office
~ how can I owe the government less
budget-forecaster | Compares planned and actual costs of departments and forecasts the end of the
  year | excel
? compare planned and actual costs
~ will we overspend before December, financial planning
~ project our finances for the coming quarters
debt-collector | Reminds customers of unpaid invoices, politely and then less so | crm mail
? remind customers of unpaid invoices
~ chase overdue bills from clients
~ dunning letters for late payers
book-auditor | Checks the annual accounts for errors and for things that do not add up | ledger
? check the annual accounts for errors
~ examine our bookkeeping for irregularities
~ verify financial statements of the firm
currency-hedger | Watches exchange rates and buys foreign currency before it becomes dear | fx_api
? watch exchange rates and buy foreign currency
~ protect us when the dollar falls against the euro
~ forex risk management
trademark-searcher | Searches registers for brands that are like a new one | register_api
? search registers for brands that are like a new one
~ is this product name already taken, intellectual property
~ avoid infringing somebody's logo rights
privacy-officer | Answers requests of people who want to know or delete what is stored about them
  | gdpr_tool
? answer requests of people who want their data deleted
~ European right to be forgotten
~ somebody demands erasure of personal information
visa-helper | Collects the papers for a visa or a work permit and books the appointment | forms
? collect the papers for a visa
~ immigration documents to live abroad
~ move to another country legally for employment
onboarding-buddy | Guides new colleagues through their first weeks: accounts, laptop,
  introductions | slack hr_system
? guide new colleagues through their first weeks
~ welcome somebody who just joined our team
~ newcomer orientation for staff starting on Monday
leave-planner | Plans holidays of a team, so that somebody is always there | hr_system calendar
? plan holidays of a team
~ request vacation and days off
~ who is absent in August
complaint-mediator | Hears both sides of a conflict at work and proposes how to settle it | notes
? hear both sides of a conflict at work
~ two employees quarrel, dispute resolution
~ bullying by my boss, what now
symptom-triage | Asks patients about their symptoms and says how urgent a doctor is |
  triage_protocol
? ask patients about symptoms and say how urgent a doctor is
~ my chest hurts, should I go to the hospital
~ preliminary diagnosis for somebody feeling ill
physio-guide | Shows exercises after an injury and watches by camera that they are done right |
  camera pose
? show exercises after an injury
~ rehabilitation of a broken knee
~ stretching for back pain, corrected by video
vaccine-reminder | Knows which vaccinations are due and makes the appointment | ehr
? know which vaccinations are due
~ flu shots and boosters for my children
~ immunisation schedule before a tropical voyage
mind-companion | Talks with people who feel low or anxious and knows when to call for help | chat
? talk with people who feel low or anxious
~ emotional support for depression and stress
~ I am sad and lonely, therapist
diabetes-diary | Keeps blood sugar, meals and insulin, and warns of dangerous values |
  glucose_sensor
? keep blood sugar and insulin
~ monitor my glycemia as a diabetic
~ hypoglycaemia alarm for chronic illness
ward-scheduler | Makes the roster of nurses and doctors, with night shifts and rest | roster
? make the roster of nurses with night shifts
~ who works in the hospital at the weekend
~ staff timetable for a clinic
language-tutor | Practises conversation in a foreign language and corrects mistakes | speech
? practise conversation in a foreign language
~ learn to speak Italian
~ improve my French pronunciation and grammar
essay-grader | Grades essays of pupils against a rubric and explains the marks | rubric
? grade essays of pupils
~ evaluate students' compositions and give feedback
~ score written homework fairly
quiz-maker | Makes questions with four answers each from a chapter of a book | text
? make questions with four answers from a chapter
~ multiple-choice exam about a lesson
~ test whether learners understood what they studied
chemistry-lab | Simulates experiments with acids, salts and gases for school classes | simulator
? simulate experiments with acids for school
~ virtual science practical about reactions between substances
~ teach pupils what happens when molecules are mixed
thesis-coach | Helps students to plan, structure and finish a thesis | latex zotero
? help students to plan and finish a thesis
~ writing my dissertation at university
~ supervisor for a master's degree paper
bedtime-teller | Invents stories for small children and reads them aloud | tts
? invent stories for small children
~ fairy tale so that my toddler falls asleep
~ a narrative for kids about a dragon and a princess
podcast-editor | Cuts breaths and silence out of recordings and makes all voices equally loud |
  audio
? cut silence out of recordings
~ post-production of an interview show, sound levels
~ remove noise from my microphone track
photo-retoucher | Removes scratches and people from photos and corrects colours | gimp
? remove scratches and people from photos
~ edit pictures in Photoshop, fix the lighting
~ restore an old damaged image of my grandparents
audiobook-voice | Reads books aloud in a natural voice | tts
? read books aloud
~ text to speech narration of a novel
~ listen to literature instead of looking at it
logo-artist | Draws logos and brand marks as vector graphics | svg
? draw logos as vector graphics
~ visual identity for a start-up
~ emblem and corporate symbol for our company
slide-maker | Turns notes into presentations with few words and good pictures | pptx
? turn notes into presentations
~ PowerPoint deck for my talk tomorrow
~ prepare a keynote for investors
subtitle-translator | Translates the subtitles of films and keeps them in time | srt
? translate the subtitles of films
~ captions of a movie in Portuguese
~ foreign-language version of dialogue on screen
customs-clerk | Fills in customs declarations and finds the tariff of goods | tariff_db
? fill in customs declarations
~ import duty on products from China
~ paperwork at the border when exporting
freight-broker | Finds a carrier with room for a load and negotiates the price | load_board
? find a carrier with room for a load
~ ship pallets across Europe cheaply
~ haulage company for cargo transport
truck-mechanic | Knows when vehicles of a fleet need oil, tyres or inspection | telematics
? know when vehicles need oil or tyres
~ car maintenance and repair schedule
~ my van makes a strange engine sound
returns-handler | Checks parcels that customers send back and decides about resale or scrap |
  scanner
? check parcels that customers send back
~ reverse logistics for goods nobody wanted
~ the dress did not fit and was shipped to us again
cold-chain-guard | Watches the temperature of food and medicine on the road | sensors
? watch the temperature of food on the road
~ refrigerated transport must not become warm
~ did the vaccine stay frozen during shipping
dock-planner | Assigns ships to berths and cranes in a harbour | ais
? assign ships to berths and cranes
~ port terminal schedule for container vessels
~ when can the freighter unload
plumber-line | Diagnoses dripping taps and blocked pipes and sends somebody with the right parts |
  phone
? diagnose dripping taps and blocked pipes
~ water is leaking in my bathroom
~ the toilet overflows, repair needed
garden-planner | Says what to plant when and where, and how to keep snails away | weather_api
? say what to plant when and where
~ grow tomatoes and flowers on my balcony
~ horticulture tips for vegetable beds
parking-finder | Finds a free place for a car near the destination and pays for it | maps payments
? find a free place for a car
~ where can I leave my vehicle downtown
~ garage spot close to the stadium
waste-sorter | Says which bin something belongs in and when it is collected | camera
? say which bin something belongs in
~ recycling of plastic and glass
~ garbage pick-up days in our street
noise-mapper | Measures how loud streets are and draws a map of it | microphone
? measure how loud streets are
~ acoustic pollution from traffic in the city
~ decibel levels near my apartment
bill-switcher | Compares electricity and gas tariffs and changes the supplier | browser
? compare electricity and gas tariffs
~ cheaper energy contract for my household
~ which power company costs least
genome-reader | Finds variants in DNA sequences and says what is known about them | bwa gatk
? find variants in DNA sequences
~ genetic mutations that cause disease
~ bioinformatics analysis of chromosomes
star-watcher | Points a telescope, takes pictures of galaxies and removes the noise | fits
  telescope
? take pictures of galaxies with a telescope
~ astronomy observations of the night sky
~ photograph planets and nebulae
climate-modeller | Runs simulations of the climate and compares them with measurements | netcdf
  hpc
? run simulations of the climate
~ global warming in the year 2100
~ how will greenhouse gases change the weather
protein-folder | Predicts the shape of proteins from their amino acids | gpu
? predict the shape of proteins
~ three-dimensional structure of an enzyme
~ molecular biology for drug design
statistician | Chooses the right test, computes confidence intervals and warns of false
  conclusions | r
? choose the right test and compute confidence intervals
~ is the difference between two groups significant
~ hypothesis analysis of survey numbers, p-values
lab-notebook | Writes down experiments with time, samples and results, so that they can be
  repeated | lims
? write down experiments with samples and results
~ record what a scientist did at the bench
~ reproducible research protocol
lead-scorer | Ranks interested companies by how likely they are to buy | crm
? rank companies by how likely they are to buy
~ which prospects should the sales team call first
~ qualify potential customers
newsletter-writer | Writes a weekly newsletter and sends it to subscribers | mailer
? write a weekly newsletter
~ email marketing to our mailing list
~ keep readers informed regularly of company updates
search-ranker | Improves pages so that search engines show them first | analytics crawler
? improve pages so that search engines show them first
~ SEO for Google visibility
~ get more organic visitors through keywords
survey-maker | Designs questionnaires and evaluates the answers | forms
? design questionnaires and evaluate answers
~ opinion poll among our customers
~ ask people how satisfied they are with the product
price-watcher | Follows the prices of competitors and suggests our own | crawler
? follow the prices of competitors
~ how much do rivals charge
~ dynamic pricing for our online shop
event-planner | Organises conferences: rooms, speakers, catering and tickets | calendar payments
? organise conferences with speakers and catering
~ arrange a big party for the company anniversary
~ venue and programme of a congress
`;
